/** Where the step cursor has ticks and seams. Pure. */

const MOST_TICKS = 120;

/** Places from 0 to 1 of the ticks: one for each record, or for every k-th where they would touch. */
export function tickPlaces(records: number): number[] {
  const every = Math.ceil(records / MOST_TICKS);
  return Array.from({ length: Math.ceil(records / every) }, (_, i) => (records > 1 ? (i * every) / (records - 1) : 0.5));
}

/** Indices of the records that begin another session than the one before them. */
export function seams(session: ArrayLike<number>): number[] {
  return Array.from(session, (_, i) => i).filter((i) => i > 0 && session[i] !== session[i - 1]);
}
