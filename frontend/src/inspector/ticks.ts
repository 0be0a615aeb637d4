/** The ticks of a chart's upright axis: round numbers, two at least. Pure. */
import { exponent, number } from "../format";

export interface Tick {
  at: number;
  text: string;
}

/** 1, 2 and 5 times a power of ten, each about twice the one before it. */
const STEPS = [1, 2, 5];

/** From `low` to `high`; of a logarithm the powers of ten, where there are two. Otherwise of the ticks that would do, the fewest. */
export function ticksOf(low: number, high: number, logarithmic: boolean, least: number): Tick[] {
  if (!(high > low)) return [{ at: low, text: number(low, 3) }];
  if (logarithmic) {
    const first = Math.floor(Math.log10(low));
    const decades = Array.from({ length: Math.ceil(Math.log10(high)) - first + 1 }, (_, i) => first + i);
    const all = (steps: number[]) => decades.flatMap((power) => steps.map((step) => Number(`${step}e${power}`)));
    const ats = (steps: number[]) => all(steps).filter((at) => at >= low && at <= high);
    const tens = ats([1]);
    const every = Math.ceil(tens.length / (3 * least));
    return (tens.length > 1 ? tens.filter((_, i) => i % every === 0) : ats(STEPS)).map((at) => ({ at, text: exponent(at, 1) }));
  }
  for (let power = Math.ceil(Math.log10(high - low)); ; power--) {
    for (const step of [5, 2, 1]) {
      const [first, last] = [Math.ceil(low / (step * 10 ** power)), Math.floor(high / (step * 10 ** power))];
      const many = last - first + 1;
      if (many >= least) return Array.from({ length: many }, (_, i) => round(Number(`${(first + i) * step}e${power}`), power));
    }
  }
}

function round(at: number, power: number): Tick {
  const text = power < -4 || Math.abs(at) >= 1e5 ? exponent(at, 2) : at.toFixed(Math.max(0, -power)).replace("-", "−");
  return { at, text: at === 0 ? "0" : text };
}
