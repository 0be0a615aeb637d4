/** A number of a tensor in the fewest digits that name it and no other number of its dtype. Pure. */
import { number } from "../format";

const FLOATS = new Set(["float32", "float16", "bfloat16"]);

/** float16 and bfloat16 are written as the float32 that they equal. */
export function exactText(value: number, dtype: string): string {
  if (!Number.isFinite(value)) return number(value);
  let text = String(value);
  if (FLOATS.has(dtype)) {
    for (let digits = 1; digits <= 9; digits++) {
      const short = Number(value.toPrecision(digits));
      if (Math.fround(short) === value) {
        text = String(short);
        break;
      }
    }
  }
  return text.replaceAll("-", "−");
}

export const indexText = (index: readonly number[]): string => `[${index.join(", ")}]`;
