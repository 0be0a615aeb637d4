/** Draws one moment of a journey: the sample, the stage with its maps, the prediction, and all stages as a strip. Knows no state. */
import type { MapColours } from "../colour/mapPixels";
import { cutMiddle } from "../flow/text";
import { number } from "../format";
import { greys } from "../maps/asPicture";
import { drawScaled, frame, hatch, type PaintedPlanes } from "../maps/draw";
import type { PlaneStore } from "../maps/store";
import { inside } from "../maps/thumbnails";
import { fullBar, type Prediction } from "./predictions";

export interface Stage {
  title: string;
  note: string;
  /** How far the colours reach; beneath the note where both do not fit beside each other. */
  colours: string;
  store: PlaneStore | null;
  reach: number;
  /** From black to white, where the maps are the channels of a picture. */
  picture: readonly [number, number] | null;
  /** Stands where there are no maps. */
  sentence: string;
}

export interface SceneInput {
  width: number;
  height: number;
  colours: MapColours;
  ink: string;
  quiet: string;
  picture: HTMLCanvasElement | null;
  pictureName: string;
  /** What the number under the pointer saw of the picture: left, top, width and height as shares of it. */
  seen: readonly [number, number, number, number] | null;
  cam: HTMLCanvasElement | null;
  camName: string;
  stage: Stage;
  painted: PaintedPlanes;
  predictions: Prediction[];
  predictionTitle: string;
  /** What a prediction's label is called. */
  labelName: string;
  /** The strip: how many places, which is current, what each came from, and its picture. */
  strip: { count: number; current: number; from(place: number): readonly number[]; name(place: number): string; draw(place: number, x: number, y: number, side: number): void };
}

export interface SceneOutput {
  /** Places of the strip, for the pointer. */
  places: { place: number; x: number; width: number }[];
  stripTop: number;
  /** Where the stage's maps lie, row by row; null where it has none. */
  tiles: Tiles | null;
}

export interface Tiles {
  x: number;
  y: number;
  columns: number;
  /** Width and height of a map, and from one to the next. */
  size: readonly [number, number];
  pitch: readonly [number, number];
  count: number;
  /** Whether all of them had arrived. */
  whole: boolean;
}

const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif';
const PAD = 14;
const TILE_GAP = 4;
export const MOST_MAPS = 64;
const STRIP = 112;

export function drawScene(pen: CanvasRenderingContext2D, scene: SceneInput): SceneOutput {
  const { width, height, colours } = scene;
  pen.fillStyle = colours.panel;
  pen.fillRect(0, 0, width, height);
  const side = Math.min(220, Math.round(width * 0.27));
  const bottom = height - STRIP;
  drawSample(pen, scene, PAD, PAD, side, bottom - PAD);
  const tiles = drawStage(pen, scene, PAD * 2 + side, PAD, width - side - PAD * 3, bottom - PAD * 1.5);
  const places = drawStrip(pen, scene, bottom);
  return { places, stripTop: bottom, tiles };
}

export function text(pen: CanvasRenderingContext2D, said: string, x: number, y: number, colour: string, room: number, size = 12, weight = 400): void {
  pen.font = `${weight} ${size}px ${FONT}`;
  pen.fillStyle = colour;
  pen.textBaseline = "alphabetic";
  let cut = said;
  while (cut.length > 3 && pen.measureText(cut).width > room) cut = cut.endsWith("…") ? `${cut.slice(0, -2)}…` : `${cut.slice(0, -1)}…`;
  pen.fillText(cut, x, y);
}

/** Room for the number beside a prediction's bar. */
const NUMBER = 60;

function drawSample(pen: CanvasRenderingContext2D, scene: SceneInput, x: number, y: number, side: number, height: number): void {
  const predicted = scene.predictions.length ? scene.predictions.length * 20 + 30 : 0;
  const room = Math.max(40, Math.min(side, height - predicted - 24));
  const { picture, cam } = scene;
  if (picture) {
    const place = inside(picture.width / picture.height, x, y, side, room);
    place[0] = x;
    place[1] = y;
    drawScaled(pen, picture, ...place);
    if (cam) {
      pen.imageSmoothingEnabled = true;
      pen.drawImage(cam, ...place);
    }
    if (scene.seen) {
      const [left, top, w, h] = scene.seen;
      frame(pen, place[0] + left * place[2], place[1] + top * place[3], w * place[2], h * place[3], scene.colours.window, 1.5);
    }
    text(pen, cam ? scene.camName : scene.pictureName, x, place[1] + place[3] + 16, scene.quiet, side, 11);
    y = place[1] + place[3] + 24;
  }
  if (!scene.predictions.length) return;
  text(pen, scene.predictionTitle, x, y + 14, scene.ink, side, 12, 600);
  const most = fullBar(scene.predictions);
  const length = Math.max(1, side - NUMBER);
  scene.predictions.forEach(({ name, value, isLabel }, i) => {
    const top = y + 20 + i * 20;
    pen.fillStyle = value < 0 ? colourOf(scene, 0) : colourOf(scene, 255);
    pen.globalAlpha = 0.3;
    pen.fillRect(x, top, Math.min(length, (length * Math.abs(value)) / most), 16);
    pen.globalAlpha = 1;
    const said = isLabel && name !== scene.labelName ? `${name} · ${scene.labelName}` : name;
    text(pen, said, x + 5, top + 12, scene.ink, length - 8, 11, isLabel ? 700 : 400);
    text(pen, number(value, 3), x + side - NUMBER + 6, top + 12, scene.quiet, NUMBER - 6, 11);
  });
}

const colourOf = ({ colours }: SceneInput, entry: number) => colours.css[entry]!;

function drawStage(pen: CanvasRenderingContext2D, scene: SceneInput, x: number, y: number, width: number, height: number): Tiles | null {
  const { stage, colours } = scene;
  text(pen, stage.title, x, y + 13, scene.ink, width, 14, 600);
  pen.font = `12px ${FONT}`;
  const whole = [stage.note, stage.colours].filter(Boolean).join(" · ");
  const lines = pen.measureText(whole).width > width ? [stage.note, stage.colours] : [whole];
  lines.forEach((line, i) => text(pen, line, x, y + 31 + 16 * i, scene.quiet, width, 12));
  const top = y + 26 + 16 * lines.length;
  if (!stage.store) {
    text(pen, stage.sentence, x, top + 16, scene.quiet, width, 12);
    return null;
  }
  const { view } = stage.store;
  const shades = stage.picture ? greys(colours, stage.picture) : colours;
  const count = Math.min(view.count, MOST_MAPS);
  const { columns, tileWidth, tileHeight } = fitTiles(count, view.cols / view.rows, width, height - (top - y));
  stage.store.want(Array.from({ length: count }, (_, plane) => plane));
  const pitch = [tileWidth + TILE_GAP, tileHeight + TILE_GAP] as const;
  let arrived = true;
  for (let plane = 0; plane < count; plane++) {
    const left = x + (plane % columns) * pitch[0];
    const above = top + Math.floor(plane / columns) * pitch[1];
    const found = stage.store.get(plane);
    if (found?.dead) hatch(pen, left, above, tileWidth, tileHeight, colours.hatch);
    else if (found) drawScaled(pen, scene.painted.get(found, view.rows, view.cols, stage.reach, shades, tileWidth, tileHeight), left, above, tileWidth, tileHeight);
    arrived &&= found !== undefined;
    frame(pen, left, above, tileWidth, tileHeight, colours.line, 0.75);
  }
  return { x, y: top, columns, size: [tileWidth, tileHeight], pitch, count, whole: arrived };
}

/** The largest tiles of one aspect that all fit. */
export function fitTiles(count: number, aspect: number, width: number, height: number): { columns: number; tileWidth: number; tileHeight: number } {
  const kept = Math.min(24, Math.max(1 / 6, aspect));
  let best = { columns: 1, tileWidth: 0, tileHeight: 0 };
  for (let columns = 1; columns <= count; columns++) {
    const rows = Math.ceil(count / columns);
    const w = Math.min((width - TILE_GAP * (columns - 1)) / columns, ((height - TILE_GAP * (rows - 1)) / rows) * kept);
    if (w > best.tileWidth) best = { columns, tileWidth: w, tileHeight: w / kept };
  }
  return best;
}

function drawStrip(pen: CanvasRenderingContext2D, { strip, width, colours, ink, quiet }: SceneInput, top: number): SceneOutput["places"] {
  const side = 60;
  const pitch = 72;
  const room = Math.max(1, Math.floor((width - PAD) / pitch));
  const first = Math.max(0, Math.min(strip.count - room, strip.current - (room >> 1)));
  const y = top + 26;
  const centre = (place: number) => PAD + (place - first) * pitch + side / 2;
  pen.fillStyle = colours.line;
  pen.fillRect(0, top, width, 1);
  const places: SceneOutput["places"] = [];
  for (let place = first; place < Math.min(strip.count, first + room); place++) {
    const x = centre(place) - side / 2;
    for (const source of strip.from(place)) drawArc(pen, centre(source), centre(place), y, place - source, place === strip.current ? colours.chosen : colours.hatch);
    strip.draw(place, x, y, side);
    const isCurrent = place === strip.current;
    frame(pen, x, y, side, side, isCurrent ? colours.chosen : colours.line, isCurrent ? 2 : 1);
    text(pen, cutMiddle(strip.name(place), isCurrent ? "name" : "plain", 11, pitch - 4), x, y + side + 15, isCurrent ? ink : quiet, pitch, 11, isCurrent ? 600 : 400);
    places.push({ place, x, width: side });
  }
  return places;
}

/** A branch that leads past its neighbour is an arc above the strip, higher the further it leads. */
function drawArc(pen: CanvasRenderingContext2D, from: number, to: number, y: number, distance: number, colour: string): void {
  pen.strokeStyle = colour;
  pen.lineWidth = 1.5;
  pen.beginPath();
  if (distance === 1) {
    pen.moveTo(from + 31, y + 30);
    pen.lineTo(to - 31, y + 30);
  } else {
    const rise = Math.min(20, 8 + 3 * distance);
    pen.moveTo(from, y - 2);
    pen.bezierCurveTo(from, y - rise, to, y - rise, to, y - 2);
  }
  pen.stroke();
}
