import { expect, test } from "vitest";
import { decode } from "./binary";

/** What `tb_layerflow.plugin.binary.encode` makes of these arrays; tests/test_plugin_binary.py mirrors the format from its side. */
const GOLDEN =
  "f50000007b226b696e64223a226572726f72222c22636f6c756d6e223a226c32222c22706f727473223a5b5b332c305d2c5b342c315d5d2c22617272" +
  "617973223a5b7b226e616d65223a2273746570222c226474797065223a22666c6f61743634222c227368617065223a5b335d2c226f6666736574223a" +
  "3235367d2c7b226e616d65223a2276616c756573222c226474797065223a22666c6f61743332222c227368617065223a5b322c335d2c226f66667365" +
  "74223a3238307d2c7b226e616d65223a22736b6970706564222c226474797065223a2275696e7438222c227368617065223a5b335d2c226f66667365" +
  "74223a3330347d5d7d000000000000000000000000000000000000000000244000000000000039400000803f0000c07f0000003f0000807f000000c0" +
  "000000000001000000000000";

const bytes = (hex: string) => Uint8Array.from(hex.match(/../g)!, (byte) => parseInt(byte, 16)).buffer;

test("an answer of the plugin's encoder is read number by number", () => {
  const { header, arrays, shapes } = decode(bytes(GOLDEN));
  expect(header).toMatchObject({ kind: "error", column: "l2", ports: [[3, 0], [4, 1]] });
  expect([...arrays.get("step")!]).toEqual([0, 10, 25]);
  expect([...arrays.get("values")!]).toEqual([1, NaN, 0.5, Infinity, -2, 0]);
  expect([...arrays.get("skipped")!]).toEqual([0, 1, 0]);
  expect(shapes.get("values")).toEqual([2, 3]);
});

test("arrays are views on the answer's own buffer", () => {
  const buffer = bytes(GOLDEN);
  for (const array of decode(buffer).arrays.values()) expect(array.buffer).toBe(buffer);
});

test("an answer that is cut short is a sentence, not wrong numbers", () => {
  const buffer = bytes(GOLDEN);
  expect(() => decode(buffer.slice(0, 300))).toThrow("cut short");
  expect(() => decode(buffer.slice(0, 40))).toThrow("should have 245 bytes, but only 36 arrived");
  expect(() => decode(buffer.slice(0, 2))).toThrow("at least 4 bytes");
});
