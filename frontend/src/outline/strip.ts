/** Draws a row's strip over the steps: a sparkline, or the heatmap's cells. Knows numbers, colours and a canvas; no state. */
import type { Rgb } from "../colour/tables";
import { placeOfIndex } from "./places";

export interface Point {
  x: number;
  y: number;
  /** False where the line begins anew, after steps without a value. */
  joined: boolean;
}

const INSET = 2;

/**
 * The sparkline in a box, from the row's least to its largest number; logarithmic where the column never has a sign. Where there are
 * more steps than two for each pixel, every pixel column keeps its lowest and highest number, so that no spike is lost.
 */
export function sparkPoints(values: ArrayLike<number>, width: number, height: number, logarithmic: boolean): Point[] {
  const y = Float64Array.from(values, (value) => (logarithmic ? (value > 0 ? Math.log(value) : NaN) : value));
  let low = Infinity;
  let high = -Infinity;
  for (const value of y) {
    if (!Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (low === Infinity) return [];
  // Rounding noise about a constant should look constant.
  const noise = (logarithmic ? 1 : Math.max(Math.abs(low), Math.abs(high))) * 1e-6;
  const span = high - low > noise ? high - low : 0;
  const place = (i: number): Omit<Point, "joined"> => ({
    x: INSET + placeOfIndex(i, [0, y.length], false) * (width - 2 * INSET),
    y: INSET + (span ? 1 - (y[i]! - low) / span : 0.5) * (height - 2 * INSET),
  });
  const points: Point[] = [];
  let joined = false;
  for (const i of keptIndices(y, Math.max(1, Math.floor(width * 2)))) {
    if (!Number.isFinite(y[i]!)) {
      joined = false;
      continue;
    }
    points.push({ ...place(i), joined });
    joined = true;
  }
  return points;
}

/** Every index, or the lowest and the highest of each of `buckets / 2` equal spans. */
function keptIndices(y: Float64Array, buckets: number): number[] {
  if (y.length <= buckets) return Array.from(y, (_, i) => i);
  const spans = Math.max(1, buckets >> 1);
  const kept: number[] = [];
  for (let k = 0; k < spans; k++) {
    const from = Math.floor((k * y.length) / spans);
    const to = Math.floor(((k + 1) * y.length) / spans);
    let lowest = from;
    let highest = from;
    for (let i = from; i < to; i++) {
      if (y[i]! < y[lowest]! || Number.isNaN(y[lowest]!)) lowest = i;
      if (y[i]! > y[highest]! || Number.isNaN(y[highest]!)) highest = i;
    }
    kept.push(Math.min(lowest, highest));
    if (lowest !== highest) kept.push(Math.max(lowest, highest));
  }
  return kept;
}

/** Sets the canvas to its size on the screen's own pixels and returns it cleared, in CSS pixels. */
export function clear(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d")!;
  context.scale(ratio, ratio);
  return context;
}

export function drawSparkline(canvas: HTMLCanvasElement, values: ArrayLike<number>, logarithmic: boolean, colour: string): void {
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  const context = clear(canvas, width, height);
  const points = sparkPoints(values, width, height, logarithmic);
  context.strokeStyle = context.fillStyle = colour;
  context.lineWidth = 1.2;
  context.lineJoin = "round";
  context.beginPath();
  points.forEach(({ x, y, joined }, i) => {
    if (joined) context.lineTo(x, y);
    else context.moveTo(x, y);
    if (!joined && !points[i + 1]?.joined) context.fillRect(x - 1, y - 1, 2, 2);
  });
  context.stroke();
}

export interface CellColours {
  pixels: Uint32Array;
  panel: Rgb;
  absent: Rgb;
  bad: Rgb;
}

/** One row of pixels, which the browser stretches. */
export function drawCells(canvas: HTMLCanvasElement, cells: Uint32Array): void {
  canvas.width = Math.max(1, cells.length);
  canvas.height = 1;
  const context = canvas.getContext("2d")!;
  const image = context.createImageData(canvas.width, 1);
  new Uint32Array(image.data.buffer).set(cells);
  context.putImageData(image, 0, 0);
}
