/** Draws planes on a canvas: from numbers to a small picture, and that one scaled into its place. Knows no state and no layout. */
import { paintMap, type MapColours } from "../colour/mapPixels";
import type { Plane } from "./planes";

export interface Painted {
  canvas: HTMLCanvasElement;
  reach: number;
  key: string;
}

export function paintPlane(plane: Plane, rows: number, cols: number, reach: number, colours: MapColours): Painted {
  const canvas = document.createElement("canvas");
  canvas.width = cols;
  canvas.height = rows;
  const pen = canvas.getContext("2d")!;
  const image = pen.createImageData(cols, rows);
  paintMap(new Uint32Array(image.data.buffer), plane.values, reach, colours);
  pen.putImageData(image, 0, 0);
  return { canvas, reach, key: colours.key };
}

/** Keeps the pictures of planes while their colours stay the same. */
export class PaintedPlanes {
  private readonly kept = new Map<Plane, Painted>();
  private pixels = 0;

  get(plane: Plane, rows: number, cols: number, reach: number, colours: MapColours): HTMLCanvasElement {
    const known = this.kept.get(plane);
    if (known && known.reach === reach && known.key === colours.key) return known.canvas;
    if (!known) this.pixels += rows * cols;
    const painted = paintPlane(plane, rows, cols, reach, colours);
    this.kept.set(plane, painted);
    for (const [oldest, { canvas }] of this.kept) {
      if (this.pixels <= 16 << 20 || oldest === plane) break;
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
