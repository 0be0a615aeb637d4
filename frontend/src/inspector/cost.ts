/** What recording cost, from the seconds that the log holds. Pure. */
import type { StepsTable } from "../api";

export interface Cost {
  /** Of the training time, 0 to 1: seconds spent on records over plain step time for every step that was passed. */
  share: number;
  /** The mean, from which the share is. */
  perRecord: number;
  /** The median: the first steps take longer. */
  perStep: number;
}

function median(values: number[]): number {
  const sorted = values.slice().sort((a, b) => a - b);
  return sorted.length ? sorted[sorted.length >> 1]! : NaN;
}

/** Null where the log has no times. */
export function recordingCost({ step, seconds, stepSeconds }: StepsTable): Cost | null {
  const plain = [...stepSeconds].filter((each) => each > 0);
  const spent = [...seconds].filter((each) => each > 0);
  if (!plain.length || !spent.length) return null;
  const perStep = median(plain);
  const passed = step[step.length - 1]! - step[0]! + 1;
  const sum = spent.reduce((total, each) => total + each, 0);
  return { share: sum / (passed * perStep + sum), perRecord: sum / spent.length, perStep };
}

/** Whether `fit`, which times its plain steps, ran none: every step from the first record to the last was recorded. */
export function onlyRecorded({ step, epoch }: StepsTable): boolean {
  const last = step.length - 1;
  return last > 0 && epoch[0]! >= 0 && step[last]! - step[0]! === last;
}
