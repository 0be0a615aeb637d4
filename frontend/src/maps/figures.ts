/** The figures of the sample that is shown, from all of its exact numbers: the record's own are of the whole batch. */
import type { Numbers } from "../binary";
import type { HeldTensor } from "../exact";
import { useAnswer } from "../inspector/useAnswer";
import { fetchValue } from "../valuesApi";

export interface Figures {
  mean: number;
  std: number;
  min: number;
  max: number;
  zeros: number;
  count: number;
  /** The largest magnitude among the finite numbers. */
  reach: number;
}

/** A NaN spreads, as it does in the record's figures. */
export function figuresOf(values: Numbers): Figures {
  let [sum, min, max, zeros, reach] = [0, Infinity, -Infinity, 0, 0];
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    sum += value;
    min = Math.min(min, value);
    max = Math.max(max, value);
    if (value === 0) zeros++;
    if (Number.isFinite(value)) reach = Math.max(reach, Math.abs(value));
  }
  const count = values.length;
  const mean = sum / count;
  let squares = 0;
  for (let i = 0; i < count; i++) squares += (values[i]! - mean) ** 2;
  return { mean, std: Math.sqrt(squares / count), min, max, zeros, count, reach };
}

/** Above this a sample is not fetched whole just for its figures: 16 MB of float32. */
const MOST = 4 << 20;

/** Of one sample of a tensor; undefined until its numbers are here, null where they cannot be had or are too many. */
export function useFigures(tensor: HeldTensor | null, sample: number): Figures | null | undefined {
  const shape = tensor?.value.shape ?? [];
  const size = shape.slice(1).reduce((product, length) => product * length, 1);
  const key = tensor && size > 0 && size <= MOST && shape.length > 0 ? JSON.stringify([tensor.place, Math.min(sample, shape[0]! - 1)]) : null;
  const { value, problem } = useAnswer(key, async () => {
    const { values } = await fetchValue(tensor!.place, String(Math.min(sample, shape[0]! - 1)));
    return { key, figures: figuresOf(values) };
  });
  // Until the next ones are here, those of another sample are nobody's.
  if (key === null || problem) return null;
  return value?.key === key ? value.figures : undefined;
}
