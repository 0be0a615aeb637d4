import { expect, test } from "vitest";
import { cardLines, sizesAt, thumbnailSide, type CardRoom, type CardWords } from "./detail";
import { cutEnd, cutMiddle, measure } from "./text";

const WORDS: CardWords = {
  name: "global_average_pooling2d", type: "GlobalAveragePooling2D", riders: " +1", shape: "1×1×256", channels: "256 ch", more: "1 in · 1 out · float32",
};
const ROOM: CardRoom = { width: 160, height: 59, firstRight: 0, lastRight: 24, thumbnail: false };
const ZOOMS = [0.45, 0.5, 0.6, 0.7, 0.79, 0.8, 1, 1.15, 1.59, 1.6, 2.5, 4];

test("nothing is written below eleven pixels of the screen", () => {
  for (const zoom of ZOOMS) for (const line of cardLines(WORDS, ROOM, zoom)) expect(line.size * zoom).toBeGreaterThanOrEqual(11 - 1e-9);
});

test("every line stays inside its card and out of the line below", () => {
  for (const zoom of ZOOMS) {
    const lines = cardLines(WORDS, ROOM, zoom);
    lines.forEach((line, index) => {
      expect(line.squeeze ?? measure(line.text, line.face, line.size)).toBeLessThanOrEqual(ROOM.width - line.x - 9 + 0.5);
      expect(line.y - line.size * 0.8).toBeGreaterThanOrEqual(-0.5);
      expect(line.y + line.size * 0.2).toBeLessThanOrEqual(ROOM.height + 0.5);
      if (index > 0) expect(line.y - lines[index - 1]!.y).toBeGreaterThanOrEqual(line.size * 0.99);
    });
  }
});

test("a long name is cut in the middle and keeps eight characters or more", () => {
  for (const zoom of ZOOMS) {
    const name = cardLines(WORDS, ROOM, zoom)[0]!.text;
    expect(name.replace("…", "").length).toBeGreaterThanOrEqual(8);
    expect(name.startsWith("glob") && name.endsWith("ng2d")).toBe(true);
  }
  expect(cutMiddle("conv1", "name", 12, 10)).toBe("conv1");
});

test("a cut type keeps the number of calls that ride on the card", () => {
  const cut = cutEnd("DepthwiseConv2D", " +2", "plain", 11, 80);
  expect(cut).toMatch(/^Depth.*… \+2$/);
  expect(measure(cut, "plain", 11)).toBeLessThanOrEqual(80);
});

test("far out there are no words, and a thumbnail gives way to the name", () => {
  expect(cardLines(WORDS, ROOM, 0.4)).toEqual([]);
  expect(thumbnailSide(WORDS, { ...ROOM, thumbnail: true }, 0.5)).toBe(0);
  expect(thumbnailSide(WORDS, { ...ROOM, thumbnail: true }, 1.6)).toBeGreaterThan(30);
  expect(sizesAt(0.5).small).toBe(22);
});
