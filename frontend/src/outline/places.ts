/** Where steps lie on a strip. Pure. A range is the first record that is shown and one past the last. */

export type Range = readonly [number, number];

/** The range that is asked for, cut to what there is. */
export function shownRange(wanted: Range | null, records: number): Range {
  if (!wanted) return [0, records];
  const to = Math.min(records, wanted[1]);
  return [Math.max(0, Math.min(wanted[0], to - 1)), to];
}

/** Which record lies at a place from 0 to 1: cells have a width, the points of a sparkline have none. */
export function stepAt(place: number, [from, to]: Range, cells: boolean): number {
  const shown = to - from;
  const index = from + (cells ? Math.floor(place * shown) : Math.round(place * (shown - 1)));
  return Math.min(to - 1, Math.max(from, index));
}

/** The place of a record, of a cell its middle; outside 0 to 1 where it is not shown. */
export function placeOfIndex(index: number, [from, to]: Range, cells: boolean): number {
  const shown = to - from;
  if (cells) return (index - from + 0.5) / shown;
  return shown > 1 ? (index - from) / (shown - 1) : 0.5;
}
