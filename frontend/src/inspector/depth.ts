/** Errors by depth as bars. Pure: numbers in the order of the flow in, heights out. */

export interface DepthBar {
  /** The call that speaks for the bar: of several, the one with the largest number. */
  call: number;
  value: number;
  /** 0 to 1 on a logarithm; a zero has none, a number that is none all of it. */
  height: number;
  bad: boolean;
}

/** The least height of a bar that is no zero. */
const LEAST = 0.04;

/** At most `most` bars; where there are more calls, neighbours share one. `least` and `high` are the ends of what is drawn. */
export function depthBars(values: readonly (readonly [number, number])[], most: number): { bars: DepthBar[]; least: number; high: number; each: number } {
  const finite = values.map(([, value]) => Math.abs(value)).filter((value) => value > 0 && value < Infinity);
  const high = finite.reduce((a, b) => Math.max(a, b), 0);
  // At least a decade, so that nearly equal errors look nearly equal.
  const low = finite.reduce((a, b) => Math.min(a, b), high > 0 ? high / 10 : Infinity);
  const each = Math.max(1, Math.ceil(values.length / most));
  const bars: DepthBar[] = [];
  for (let at = 0; at < values.length; at += each) {
    const together = values.slice(at, at + each);
    const [call, value] = together.reduce((worst, next) => (weight(next[1]) > weight(worst[1]) ? next : worst));
    const bad = !Number.isFinite(value);
    const place = high > low ? Math.log(Math.abs(value) / low) / Math.log(high / low) : 1;
    bars.push({ call, value, bad, height: bad ? 1 : value === 0 ? 0 : LEAST + (1 - LEAST) * place });
  }
  const least = bars.reduce((a, { value, bad }) => (bad ? a : Math.min(a, Math.abs(value))), Infinity);
  return { bars, least, high, each };
}

const weight = (value: number) => (Number.isFinite(value) ? Math.abs(value) : Infinity);
