/**
 * Which picture suits a part of a tensor: what are its rows, its columns, and how many planes there are. Pure.
 *
 * Maps have rows and columns; of a sequence the features are the rows and time runs to the right; a vector is wrapped. All other
 * axes count the planes, channels fastest. Of a weight, each kernel is a map, and a matrix is one.
 */
import { at, whole, type Axis } from "./slices";

export interface MapView {
  shape: readonly number[];
  axes: readonly Axis[];
  /** Axes that are rows and columns; -1: none. Of a wrapped vector `colAxis` is its axis. */
  rowAxis: number;
  colAxis: number;
  wrapped: boolean;
  planeAxes: readonly number[];
  /** Elements of a plane; the last row of a wrapped vector may be short. */
  rows: number;
  cols: number;
  size: number;
  /** Planes. */
  count: number;
}

/** Elements of one plane beyond which every k-th is taken: the picture has no more pixels anyway. */
export const MOST_ELEMENTS = 4 << 20;

/** Where a tensor has its channels: on the last axis, on the one after the batch's, or, a picture of rows and columns, nowhere. */
export type Channels = "last" | "first" | "none";

/** The axis of the channels; -1 where there is none. */
export function channelAxis(rank: number, channels: Channels): number {
  if (rank < 3 || channels === "none") return -1;
  return channels === "first" ? 1 : rank - 1;
}

/** What is shown of a tensor at first: one sample, of a volume its middle. */
export function firstAxes(shape: readonly number[], sample: number, channels: Channels): Axis[] {
  const channel = channelAxis(shape.length, channels);
  const spatial = shape.map((_, axis) => axis).filter((axis) => axis > 0 && axis !== channel);
  const fixed = new Set(spatial.slice(0, -2));
  return shape.map((size, axis) => {
    if (axis === 0) return at(Math.min(sample, size - 1));
    return fixed.has(axis) ? at(size >> 1) : whole(size);
  });
}

/** A weight has no batch axis. */
export function makeView(shape: readonly number[], given: readonly Axis[], channels: Channels, isWeight = false): MapView {
  const channel = channelAxis(shape.length, channels);
  const free = given.map((_, axis) => axis).filter((axis) => (axis > 0 || isWeight) && !given[axis]!.single && shape[axis]! > 1);
  const [rowAxis, colAxis] = isWeight ? kernelAxes(free, shape.length) : pictureAxes(free, channel);
  const axes = given.map((axis) => ({ ...axis }));
  if (rowAxis >= 0) thin(axes[rowAxis]!, axes[colAxis]!);
  const planeAxes = axes.map((_, axis) => axis).filter((axis) => axis !== rowAxis && axis !== colAxis);
  if (planeAxes.includes(channel)) planeAxes.push(...planeAxes.splice(planeAxes.indexOf(channel), 1));
  const count = planeAxes.reduce((product, axis) => product * axes[axis]!.length, 1);
  const common = { shape, axes, rowAxis, colAxis, planeAxes, count };
  if (rowAxis >= 0) {
    const [rows, cols] = [axes[rowAxis]!.length, axes[colAxis]!.length];
    return { ...common, wrapped: false, rows, cols, size: rows * cols };
  }
  const size = colAxis >= 0 ? axes[colAxis]!.length : 1;
  const cols = size <= 16 ? size : Math.ceil(Math.sqrt(size * 1.6));
  return { ...common, wrapped: true, rows: Math.ceil(size / cols), cols, size };
}

function pictureAxes(free: number[], channel: number): [number, number] {
  if (free.length === 0) return [-1, -1];
  if (free.length === 1) return [-1, free[0]!];
  if (free.length === 2) return free.includes(channel) ? [channel, free.find((axis) => axis !== channel)!] : [free[0]!, free[1]!];
  const spatial = free.filter((axis) => axis !== channel);
  return [spatial.at(-2)!, spatial.at(-1)!];
}

/** Of a kernel its spatial axes, which come before the input and output channels; where it has only one, time to the right; else the channels. */
function kernelAxes(free: number[], rank: number): [number, number] {
  if (free.length < 2) return [-1, free[0] ?? -1];
  const spatial = free.filter((axis) => axis < rank - 2);
  if (spatial.length > 1) return [spatial.at(-2)!, spatial.at(-1)!];
  return spatial.length ? [free[1]!, free[0]!] : [free[0]!, free[1]!];
}

function thin(rows: Axis, cols: Axis): void {
  while (rows.length * cols.length > MOST_ELEMENTS) {
    const longer = rows.length > cols.length ? rows : cols;
    longer.step *= 2;
    longer.length = Math.ceil((longer.stop - longer.start) / longer.step);
  }
}

/** The place of a plane along each of its axes, as positions in the tensor. */
export function planePlaces(view: MapView, plane: number): number[] {
  const places: number[] = [];
  let rest = plane;
  for (let i = view.planeAxes.length - 1; i >= 0; i--) {
    const { start, step, length } = view.axes[view.planeAxes[i]!]!;
    places[i] = start + (rest % length) * step;
    rest = Math.floor(rest / length);
  }
  return places;
}

/** The index in the tensor, batch axis first, of one element of one plane. */
export function indexAt(view: MapView, plane: number, row: number, col: number): number[] {
  const index = view.axes.map((axis) => axis.start);
  planePlaces(view, plane).forEach((place, i) => (index[view.planeAxes[i]!] = place));
  const place = (axis: number, position: number) => view.axes[axis]!.start + position * view.axes[axis]!.step;
  if (view.wrapped) {
    if (view.colAxis >= 0) index[view.colAxis] = place(view.colAxis, row * view.cols + col);
  } else {
    index[view.rowAxis] = place(view.rowAxis, row);
    index[view.colAxis] = place(view.colAxis, col);
  }
  return index;
}

/** Where an index of the tensor is drawn; null where it is not part of what is shown. */
export function placeOf(view: MapView, index: readonly number[]): { plane: number; row: number; col: number } | null {
  const along = (axis: number): number => {
    const { start, step, length } = view.axes[axis]!;
    const position = (index[axis]! - start) / step;
    return Number.isInteger(position) && position >= 0 && position < length ? position : NaN;
  };
  let plane = 0;
  for (const axis of view.planeAxes) plane = plane * view.axes[axis]!.length + along(axis);
  const element = view.colAxis >= 0 ? along(view.colAxis) : 0;
  const place = view.wrapped
    ? { plane, row: Math.floor(element / view.cols), col: element % view.cols }
    : { plane, row: along(view.rowAxis), col: element };
  return Object.values(place).some(Number.isNaN) ? null : place;
}

/** Whether an element was left out because a plane is larger than any screen. */
export function thinned(view: MapView, given: readonly Axis[]): boolean {
  return view.axes.some(({ step }, axis) => step !== given[axis]!.step);
}
