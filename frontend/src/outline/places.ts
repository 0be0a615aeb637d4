/** Where steps lie on a strip. Pure. */

/** Which step lies at a place from 0 to 1: cells have a width, the points of a sparkline have none. */
export function stepAt(place: number, records: number, cells: boolean): number {
  const index = cells ? Math.floor(place * records) : Math.round(place * (records - 1));
  return Math.min(records - 1, Math.max(0, index));
}
