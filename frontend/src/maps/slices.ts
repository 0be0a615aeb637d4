/** numpy's way of writing a part of a tensor, `[0, :, 2:9, -1]`, read and written. Pure; knows no tensor but its shape. */

export interface Axis {
  /** First position, one past the last, and the step: as Python's `slice.indices` gives them. */
  start: number;
  stop: number;
  step: number;
  length: number;
  /** An index and no slice: numpy drops the axis. */
  single: boolean;
}

/** A refusal; its message is a sentence for people. */
export class SliceError extends Error {}

const WHOLE = /^[+-]?\d{1,9}$/;

export function whole(size: number): Axis {
  return { start: 0, stop: size, step: 1, length: size, single: false };
}

export function at(position: number): Axis {
  return { start: position, stop: position + 1, step: 1, length: 1, single: true };
}

/** One axis for each of the shape, those left out taken whole. SliceError where the text is none, or leads out of the tensor. */
export function parseSlices(text: string, shape: readonly number[]): Axis[] {
  const inner = text.trim().replace(/^\[/, "").replace(/\]$/, "").trim();
  const parts = inner === "" ? [] : inner.replace(/,\s*$/, "").split(",").map((part) => part.trim());
  const dots = parts.indexOf("...");
  if (dots >= 0) {
    const missing = shape.length - (parts.length - 1);
    if (missing < 0) throw tooMany(parts.length - 1, shape);
    parts.splice(dots, 1, ...Array<string>(missing).fill(":"));
  }
  if (parts.length > shape.length) throw tooMany(parts.length, shape);
  return shape.map((size, axis) => axisOf(parts[axis] ?? ":", size, axis));
}

function tooMany(given: number, shape: readonly number[]): SliceError {
  return new SliceError(`This tensor has ${shape.length} axes, ${shape.join("×")}. Received: ${given}.`);
}

function axisOf(part: string, size: number, axis: number): Axis {
  if (WHOLE.test(part)) {
    const position = Number(part) < 0 ? Number(part) + size : Number(part);
    if (position < 0 || position >= size) throw new SliceError(`Axis ${axis} has the positions 0 to ${size - 1}. Received: ${part}.`);
    return at(position);
  }
  const ends = part.split(":").map((end) => end.trim());
  if (ends.length < 2 || ends.length > 3 || !ends.every((end) => end === "" || WHOLE.test(end))) {
    throw new SliceError(`An axis is an index or a slice, such as 3, 2:9 or ::2. Received: ${part || "nothing"}.`);
  }
  const step = ends[2] ? Number(ends[2]) : 1;
  if (step < 1) throw new SliceError(`A step must be 1 or more: maps are not turned round. Received: ${step}.`);
  const place = (end: string | undefined, instead: number) => {
    if (!end) return instead;
    const given = Number(end);
    return Math.min(size, Math.max(0, given < 0 ? given + size : given));
  };
  const start = place(ends[0], 0);
  const stop = place(ends[1], size);
  const length = Math.max(0, Math.ceil((stop - start) / step));
  if (!length) throw new SliceError(`The slice ${part} of axis ${axis}, which has ${size} positions, is empty.`);
  return { start, stop, step, length, single: false };
}

function written(axis: Axis, size: number): string {
  if (axis.single) return String(axis.start);
  const { start, stop, step } = axis;
  const ends = `${start === 0 ? "" : start}:${stop === size ? "" : stop}`;
  return step === 1 ? ends : `${ends}:${step}`;
}

/** As numpy has it, with brackets. */
export function slicesText(axes: readonly Axis[], shape: readonly number[]): string {
  return `[${axes.map((axis, i) => written(axis, shape[i]!)).join(", ")}]`;
}

/** As the route /value takes it, where an index keeps its axis. */
export function slicesParameter(axes: readonly Axis[], shape: readonly number[]): string {
  return axes.map((axis, i) => written(axis, shape[i]!)).join(",");
}
