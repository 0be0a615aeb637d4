/** One plane of numbers, what is known of it, and how planes are taken out of an answer. Pure. */
import type { Numbers } from "../binary";
import type { MapView } from "./view";

export interface Plane {
  /** Row by row. */
  values: Numbers;
  /** Of the finite elements; both 0 where there are none. */
  low: number;
  high: number;
  /** Root mean square of the finite elements. */
  activity: number;
  /** Every element is exactly zero. */
  dead: boolean;
  /** Holds NaN or infinities. */
  odd: boolean;
}

export function makePlane(values: Numbers): Plane {
  let [low, high, sum, finite, zeros] = [Infinity, -Infinity, 0, 0, 0];
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (value - value !== 0) continue;
    finite++;
    if (value < low) low = value;
    if (value > high) high = value;
    if (value === 0) zeros++;
    else sum += value * value;
  }
  if (!finite) [low, high] = [0, 0];
  return {
    values, low, high,
    activity: finite ? Math.sqrt(sum / finite) : 0,
    dead: values.length > 0 && zeros === values.length,
    odd: finite < values.length,
  };
}

/** The largest magnitude among the finite elements of some planes; 0 where there is none. */
export function reach(planes: Iterable<Plane>): number {
  let most = 0;
  for (const { low, high } of planes) most = Math.max(most, -low, high);
  return most;
}

/**
 * Takes `count` planes out of an answer whose axes are those of the tensor, each as long as was asked for, and in which the fastest
 * plane axis holds the planes and every other one a single position.
 */
export function takePlanes(view: MapView, answer: Numbers, shape: readonly number[], count: number): Numbers[] {
  const strides = shape.map((_, axis) => shape.slice(axis + 1).reduce((product, size) => product * size, 1));
  const stride = (axis: number | undefined) => (axis === undefined || axis < 0 ? 0 : strides[axis]!);
  const [byPlane, byRow, byCol] = [stride(view.planeAxes.at(-1)), stride(view.rowAxis), stride(view.colAxis)];
  const Kind = answer.constructor as new (size: number) => Numbers;
  const [rows, cols] = view.wrapped ? [1, view.size] : [view.rows, view.cols];
  // One plane that already lies row by row is the answer itself: a copy of megabytes is felt.
  if (count === 1 && answer.length === rows * cols && byCol === 1 && (rows === 1 || byRow === cols)) return [answer];
  return Array.from({ length: count }, (_, plane) => {
    const values = new Kind(rows * cols);
    let to = 0;
    for (let row = 0; row < rows; row++) {
      let from = plane * byPlane + row * byRow;
      for (let col = 0; col < cols; col++, from += byCol) values[to++] = answer[from]!;
    }
    return values;
  });
}

/** Planes by falling activity; equal ones, and those not known, keep their order, the unknown last. */
export function byActivity(activity: readonly (number | null)[]): number[] {
  return activity.map((_, plane) => plane).sort((a, b) => (activity[b] ?? -1) - (activity[a] ?? -1) || a - b);
}

/** Root mean square of each channel out of its recorded figures, float32 [5, channels]: mean, std, min, max, share of zeros. */
export function activityOfFigures(figures: Numbers): number[] {
  const channels = figures.length / 5;
  return Array.from({ length: channels }, (_, channel) => Math.hypot(figures[channel]!, figures[channels + channel]!));
}
