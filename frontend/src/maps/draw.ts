/** Draws planes on a canvas: from numbers to a small picture, and that one scaled into its place. Knows no state and no layout. */
import { paintMap, type MapColours } from "../colour/mapPixels";
import type { Plane } from "./planes";

export interface Painted {
  canvas: HTMLCanvasElement;
  reach: number;
  key: string;
  step: number;
}

/** Of every `step`-th row and column. */
export function paintPlane(plane: Plane, rows: number, cols: number, reach: number, colours: MapColours, step = 1): Painted {
  const canvas = document.createElement("canvas");
  canvas.width = Math.ceil(cols / step);
  canvas.height = Math.ceil(rows / step);
  const pen = canvas.getContext("2d")!;
  const image = pen.createImageData(canvas.width, canvas.height);
  paintMap(new Uint32Array(image.data.buffer), everyNth(plane.values, rows, cols, step), reach, colours);
  pen.putImageData(image, 0, 0);
  return { canvas, reach, key: colours.key, step };
}

/** Every `step`-th number of every `step`-th row. */
export function everyNth(values: Plane["values"], rows: number, cols: number, step: number): Plane["values"] {
  if (step === 1) return values;
  const part = new Float64Array(Math.ceil(rows / step) * Math.ceil(cols / step));
  let to = 0;
  for (let row = 0; row < rows; row += step) for (let col = 0; col < cols; col += step) part[to++] = values[row * cols + col]!;
  return part;
}

/** Two numbers a pixel along each side are as good as all: painting dozens of large maps whole would be felt. */
export function stepFor(rows: number, cols: number, width: number, height: number): number {
  return Math.max(1, Math.floor(Math.min(cols / width, rows / height) / 2));
}

/** Of small maps, such as kernels, a canvas costs more than its pixels. */
const MOST_KEPT = 4096;

/** Keeps the pictures of planes while their colours stay the same. */
export class PaintedPlanes {
  private readonly kept = new Map<Plane, Painted>();
  private pixels = 0;

  /** The picture of a plane for a place of `width` × `height` pixels of the screen. */
  get(plane: Plane, rows: number, cols: number, reach: number, colours: MapColours, width: number, height: number): HTMLCanvasElement {
    const ratio = window.devicePixelRatio || 1;
    const step = stepFor(rows, cols, width * ratio, height * ratio);
    const known = this.kept.get(plane);
    if (known && known.reach === reach && known.key === colours.key && known.step === step) return known.canvas;
    if (known) this.pixels -= known.canvas.width * known.canvas.height;
    const painted = paintPlane(plane, rows, cols, reach, colours, step);
    this.pixels += painted.canvas.width * painted.canvas.height;
    this.kept.set(plane, painted);
    for (const [oldest, { canvas }] of this.kept) {
      if ((this.pixels <= 16 << 20 && this.kept.size <= MOST_KEPT) || oldest === plane) break;
      this.pixels -= canvas.width * canvas.height;
      this.kept.delete(oldest);
    }
    return painted.canvas;
  }
}

/** Enlarged numbers stay squares; more numbers than pixels are averaged. */
export function drawScaled(pen: CanvasRenderingContext2D, image: CanvasImageSource & { width: number; height: number }, x: number, y: number, width: number, height: number): void {
  pen.imageSmoothingEnabled = width * pen.getTransform().a < image.width || height * pen.getTransform().d < image.height;
  pen.imageSmoothingQuality = "high";
  pen.drawImage(image, x, y, width, height);
}

/** What is dead looks like nothing else: hatched. */
export function hatch(pen: CanvasRenderingContext2D, x: number, y: number, width: number, height: number, colour: string): void {
  pen.save();
  pen.beginPath();
  pen.rect(x, y, width, height);
  pen.clip();
  pen.beginPath();
  for (let at = -height; at < width; at += 5) {
    pen.moveTo(x + at, y + height);
    pen.lineTo(x + at + height, y);
  }
  pen.strokeStyle = colour;
  pen.lineWidth = 1;
  pen.stroke();
  pen.restore();
}

export function frame(pen: CanvasRenderingContext2D, x: number, y: number, width: number, height: number, colour: string, line = 1): void {
  pen.strokeStyle = colour;
  pen.lineWidth = line;
  pen.strokeRect(x - line / 2, y - line / 2, width + line, height + line);
}

/** A canvas of a size in pixels of the page, sharp on every screen. */
export function sized(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
  const ratio = window.devicePixelRatio || 1;
  const [w, h] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
  if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
  const pen = canvas.getContext("2d")!;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  return pen;
}
