/** Breaks the columns of a level into lines, all in the same direction: where the room ends, and where the spatial size changes. */

export interface Line {
  /** First column of the line, and the one after its last. */
  start: number;
  end: number;
  /** The line begins a stage of this spatial size; null: it goes on, or there are no stages. */
  band: string | null;
}

export const CARD_WIDTH = 160;
export const CARD_HEIGHT = 64;
export const GAP = 24;

/** Cards in one line of a chain: ⌊(width / zoom − 48) / 184⌋, at least one. */
export function cardsPerLine(width: number, zoom: number): number {
  return Math.max(1, Math.floor(lineRoom(width, zoom) / (CARD_WIDTH + GAP)));
}

/** The room of a line in the picture's own units. */
export function lineRoom(width: number, zoom: number): number {
  return width / zoom - 48;
}

/** Stages pay where there is more than one line anyway and a stage holds two columns or more on average. */
function hasStages(bands: (string | null)[], fitsOneLine: boolean): boolean {
  let stages = 0;
  let last: string | null = null;
  for (const band of bands) {
    if (band !== null && band !== last) {
      stages++;
      last = band;
    }
  }
  return !fitsOneLine && stages > 1 && bands.length >= 8 && bands.length >= 2 * stages;
}

/** `widths` and `bands` of each column, `room` for one line; each column takes its width and one gap of it. */
export function breakLines(widths: number[], bands: (string | null)[], room: number): Line[] {
  const whole = widths.reduce((sum, width) => sum + width + GAP, 0);
  const staged = hasStages(bands, whole <= room);
  const lines: Line[] = [];
  let line: Line = { start: 0, end: 0, band: null };
  let used = 0;
  let current: string | null = null;
  widths.forEach((width, column) => {
    const band = staged ? bands[column]! : null;
    const newStage = band !== null && band !== current;
    const full = used + width + GAP > room && column > line.start;
    if (full || (newStage && current !== null)) {
      lines.push(line);
      line = { start: column, end: column, band: null };
      used = 0;
    }
    if (newStage) {
      line.band = band;
      current = band;
    }
    line.end = column + 1;
    used += width + GAP;
  });
  if (line.end > line.start) lines.push(line);
  return lines;
}
