/**
 * Small pictures of outputs for cards and frames: a few maps of fixed channels, each thumbnail on a scale of its own, or the sample
 * as people see it. Fetches what is asked for, the newest wish first; thins large maps to what a thumbnail can show.
 */
import { computed, signal, type ReadonlySignal, type Signal } from "@preact/signals";
import { paintPicture, type MapColours } from "../colour/mapPixels";
import { heldTensor, type Held, type HeldTensor } from "../exact";
import { windows } from "../state";
import { fetchValue, type Box, type ValuePart } from "../valuesApi";
import { isImage, pictureRange } from "./asPicture";
import { drawScaled, frame, hatch, paintPlane } from "./draw";
import { makePlane, reach, takePlanes, type Plane } from "./planes";
import { at, slicesParameter, type Axis } from "./slices";
import { channelAxis, firstAxes, makeView, type Channels, type MapView } from "./view";

/** Maps of one thumbnail near by; farther off the first four, or one. */
export const MAPS = 9;
const FINEST = 40;
const LONGEST = 96;
/** Pixels of an input's picture along either side. */
const SHARPEST = 512;
const AT_ONCE = 4;

interface Small {
  view: MapView;
  planes: Plane[];
  /** Red, green and blue or grey: a picture and no maps. */
  picture: HTMLCanvasElement | null;
  painted: Map<Plane, HTMLCanvasElement>;
}

interface Slot {
  tensor: HeldTensor | null;
  isPicture: boolean;
  version: Signal<number>;
  changed: ReadonlySignal<string>;
  small: Small | null;
  asked: boolean;
}

/** The channels of a run's thumbnails: evenly spread, so that they are the same ones at every step. */
export function fixedChannels(channels: number): Axis {
  const step = Math.max(1, Math.floor(channels / MAPS));
  const length = Math.min(MAPS, Math.ceil(channels / step));
  return { start: 0, stop: (length - 1) * step + 1, step, length, single: false };
}

/** The part of a tensor that its thumbnail shows. */
export function thumbnailAxes(shape: readonly number[], sample: number, channels: Channels): Axis[] {
  const channel = channelAxis(shape.length, channels);
  const axes = firstAxes(shape, sample, channels);
  const isMaps = shape.length > 3;
  return axes.map((axis, i) => {
    if (axis.single) return axis;
    if (i === channel && isMaps) return fixedChannels(shape[i]!);
    const finest = isMaps ? FINEST : shape.length === 2 ? 1024 : LONGEST;
    const step = Math.max(1, Math.ceil(axis.length / finest));
    return { ...axis, step, length: Math.ceil(axis.length / step) };
  });
}

export class Thumbnails {
  private readonly slots = new Map<string, Slot>();
  private readonly waiting: Slot[] = [];
  private running = 0;

  constructor(
    readonly held: Held,
    readonly sample: number,
    private readonly colours: MapColours,
    /** What an older record's thumbnails are drawn with. */
    readonly old: boolean,
  ) {}

  has(path: string): boolean {
    return this.held.callOf.has(path);
  }

  /** Another text whenever there is something else to draw for a call. */
  changed(path: string): ReadonlySignal<string> {
    return this.slot(path).changed;
  }

  /** Draws into a rectangle; what has not arrived is asked for, and `changed` tells when it has. */
  draw(pen: CanvasRenderingContext2D, path: string, x: number, y: number, width: number, height: number, maps: number): void {
    const slot = this.slot(path);
    if (!slot.tensor) return void missing(pen, x, y, width, height, this.colours);
    if (!slot.small) {
      frame(pen, x + 1, y + 1, width - 2, height - 2, this.colours.line);
      return this.ask(slot);
    }
    pen.save();
    if (this.old) pen.globalAlpha = 0.55;
    const { small } = slot;
    if (small.picture) drawScaled(pen, small.picture, ...inside(small.picture.width / small.picture.height, x, y, width, height));
    else this.drawMaps(pen, small, x, y, width, height, maps);
    pen.restore();
    const box = windows.value.get(`${slot.tensor.call} ${slot.tensor.port}`)?.box;
    if (box) this.drawWindow(pen, slot, box, x, y, width, height, maps);
  }

  private drawMaps(pen: CanvasRenderingContext2D, small: Small, x: number, y: number, width: number, height: number, maps: number): void {
    const { view, planes } = small;
    const shown = planes.slice(0, maps);
    const own = reach(shown);
    tiles(shown.length, view.cols / view.rows, x, y, width, height).forEach(([left, top, w, h], i) => {
      const plane = shown[i]!;
      if (plane.dead) return hatch(pen, left, top, w, h, this.colours.hatch);
      let painted = small.painted.get(plane);
      if (!painted) small.painted.set(plane, (painted = paintPlane(plane, view.rows, view.cols, own, this.colours).canvas));
      drawScaled(pen, painted, left, top, w, h);
      if (shown.length > 1) frame(pen, left, top, w, h, this.colours.line, 0.5);
    });
  }

  private drawWindow(pen: CanvasRenderingContext2D, slot: Slot, box: Box, x: number, y: number, width: number, height: number, maps: number): void {
    const small = slot.small!;
    const { shape } = slot.tensor!.value;
    if (shape.length !== (slot.tensor!.channels === "none" ? 3 : 4)) return;
    const [rowAxis, colAxis] = slot.tensor!.channels === "first" ? [2, 3] : [1, 2];
    const places: [number, number, number, number][] = small.picture
      ? [inside(shape[colAxis]! / shape[rowAxis]!, x, y, width, height)]
      : tiles(Math.min(maps, small.planes.length), small.view.cols / small.view.rows, x, y, width, height);
    const [[top, bottom], [left, right]] = [box[rowAxis]!, box[colAxis]!];
    for (const [px, py, w, h] of places) {
      const [sx, sy] = [w / shape[colAxis]!, h / shape[rowAxis]!];
      const [rw, rh] = [Math.max(2, (right - left) * sx), Math.max(2, (bottom - top) * sy)];
      frame(pen, px + Math.min(left * sx, w - rw) + 1, py + Math.min(top * sy, h - rh) + 1, rw - 2, rh - 2, this.colours.window, 1.5);
    }
  }

  private slot(path: string): Slot {
    const known = this.slots.get(path);
    if (known) return known;
    const tensor = heldTensor(this.held, path, "output", 0);
    const version = signal(0);
    const key = tensor ? `${tensor.call} ${tensor.port}` : "";
    const changed = computed(() => `${version.value} ${JSON.stringify(windows.value.get(key)?.box ?? "")}`);
    const made = { tensor, version, changed, small: null, asked: false, isPicture: tensor !== null && isPictured(this.held, tensor) };
    this.slots.set(path, made);
    return made;
  }

  private ask(slot: Slot): void {
    if (slot.asked) return;
    slot.asked = true;
    this.waiting.push(slot);
    this.pump();
  }

  private pump(): void {
    while (this.running < AT_ONCE && this.waiting.length) {
      const slot = this.waiting.pop()!;
      this.running++;
      void this.load(slot).finally(() => {
        this.running--;
        this.pump();
      });
    }
  }

  private async load(slot: Slot): Promise<void> {
    const { held, sample } = this;
    const tensor = slot.tensor!;
    try {
      if (slot.isPicture) slot.small = pictured(pictureOf(await fetchPicture(held, sample)));
      else if (isImage(held, tensor)) slot.small = pictured(await inputImage(held, tensor, sample));
      else slot.small = await mapsOf(tensor, sample);
    } catch {
      slot.tensor = null;
    }
    slot.version.value++;
  }
}

export function fetchPicture(held: Held, sample: number): Promise<ValuePart> {
  const { run, stream, step, graph } = held;
  return fetchValue({ run, stream, step, path: graph.calls[0]!.path, kind: "picture", port: 0 }, String(sample));
}

/** The pictures are those of the first input that has the rank of pictures, or of the only one. */
export function isPictured(held: Held, tensor: HeldTensor): boolean {
  if (!held.arrays.has("picture 0 0")) return false;
  const inputs = held.graph.calls.flatMap(({ kind, outputs }, call) => (kind === "input" ? [{ call, rank: outputs[0]?.shape?.length ?? 0 }] : []));
  return (inputs.find(({ rank }) => rank === 4) ?? inputs[0])?.call === tensor.call;
}

export function canvasOf(width: number, height: number, paint: (pixels: Uint32Array) => void): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width, height];
  const pen = canvas.getContext("2d")!;
  const image = pen.createImageData(width, height);
  paint(new Uint32Array(image.data.buffer));
  pen.putImageData(image, 0, 0);
  return canvas;
}

/** One sample of uint8 [1, height, width(, channels)]. */
export function pictureOf({ values, shape }: Pick<ValuePart, "values" | "shape">): HTMLCanvasElement {
  const [, height = 1, width = 1, channels = 1] = shape;
  return canvasOf(width, height, (pixels) => paintPicture(pixels, values, shape.length > 3 ? channels : 1));
}

/** What went in, thinned to what a screen can show, from black to white: of a picture as it is, else from the smallest to the largest number. */
export async function inputImage(held: Held, tensor: HeldTensor, sample: number): Promise<HTMLCanvasElement> {
  const { place, value } = tensor;
  const axes = value.shape.map((size, i): Axis => {
    if (i === 0) return { ...at(sample), single: false };
    const step = i < 3 ? Math.ceil(size / SHARPEST) : 1;
    return { start: 0, stop: size, step, length: Math.ceil(size / step), single: false };
  });
  const { values, shape } = await fetchValue(place, slicesParameter(axes, value.shape));
  return pictureOf({ values: stretched(values, pictureRange(held, tensor)), shape });
}

/** Bytes from 0 for black to 255 for white, which are the smallest and the largest number if not given; where all are equal, a middle grey. */
export function stretched(values: ValuePart["values"], range: readonly [number, number] | null = null): Uint8Array {
  const own = makePlane(values);
  const [low, high] = range ?? [own.low, own.high];
  const bytes = new Uint8ClampedArray(values.length).fill(127);
  if (high > low) for (let i = 0; i < bytes.length; i++) bytes[i] = (255 * (values[i]! - low)) / (high - low);
  return new Uint8Array(bytes.buffer);
}

const pictured = (picture: HTMLCanvasElement): Small => ({ view: null!, planes: [], picture, painted: new Map() });

async function mapsOf(tensor: HeldTensor, sample: number): Promise<Small> {
  const axes = thumbnailAxes(tensor.value.shape, Math.min(sample, (tensor.value.shape[0] ?? 1) - 1), tensor.channels);
  const view = makeView(tensor.value.shape, axes, tensor.channels);
  const asked = axes.map((axis) => (axis.single ? { ...at(axis.start), single: false } : axis));
  const { values, shape } = await fetchValue(tensor.place, slicesParameter(asked, tensor.value.shape));
  return { view, planes: takePlanes(view, values, shape, view.count).map(makePlane), picture: null, painted: new Map() };
}

/** As large as fits, in the middle. */
export function inside(aspect: number, x: number, y: number, width: number, height: number): [number, number, number, number] {
  const w = Math.min(width, height * aspect);
  const h = Math.min(height, width / aspect);
  return [x + (width - w) / 2, y + (height - h) / 2, w, h];
}

/** One to nine equal places for maps of one aspect. */
export function tiles(count: number, aspect: number, x: number, y: number, width: number, height: number): [number, number, number, number][] {
  const side = Math.ceil(Math.sqrt(count));
  const gap = side > 1 ? 2 : 0;
  const [w, h] = [(width - gap * (side - 1)) / side, (height - gap * (side - 1)) / side];
  // A vector or a sequence fills its place; maps keep their shape.
  const isLong = count === 1 && (aspect > 3 || aspect < 1 / 3);
  return Array.from({ length: count }, (_, i) => {
    const [left, top] = [x + (i % side) * (w + gap), y + Math.floor(i / side) * (h + gap)];
    return isLong ? [left, top, w, h] : inside(aspect, left, top, w, h);
  });
}

function missing(pen: CanvasRenderingContext2D, x: number, y: number, width: number, height: number, colours: MapColours): void {
  pen.save();
  pen.setLineDash([3, 3]);
  frame(pen, x + 1, y + 1, width - 2, height - 2, colours.ink, 0.75);
  pen.restore();
}
