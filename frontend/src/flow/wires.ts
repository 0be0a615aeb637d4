/** Turns routes into strokes: rounded corners, widths by size. Knows no DOM. */

const RADIUS = 7;

/** An SVG path along corner points x, y, x, y, …, its corners rounded as far as its stretches allow. */
export function roundedPath(points: number[], radius = RADIUS): string {
  if (points.length < 4) return "";
  let d = `M${fix(points[0]!)} ${fix(points[1]!)}`;
  for (let at = 2; at + 3 < points.length; at += 2) {
    const [px, py, x, y, nx, ny] = [points[at - 2]!, points[at - 1]!, points[at]!, points[at + 1]!, points[at + 2]!, points[at + 3]!];
    const before = Math.hypot(x - px, y - py);
    const after = Math.hypot(nx - x, ny - y);
    const r = Math.min(radius, before / 2, after / 2);
    const [ax, ay] = [x - ((x - px) / (before || 1)) * r, y - ((y - py) / (before || 1)) * r];
    const [bx, by] = [x + ((nx - x) / (after || 1)) * r, y + ((ny - y) / (after || 1)) * r];
    d += `L${fix(ax)} ${fix(ay)}Q${fix(x)} ${fix(y)} ${fix(bx)} ${fix(by)}`;
  }
  return `${d}L${fix(points[points.length - 2]!)} ${fix(points[points.length - 1]!)}`;
}

/** Width of an edge for a tensor of so many elements per sample: one step for each power of ten. */
export function edgeWidth(elements: number | null): number {
  return elements === null ? 1.4 : Math.min(3.2, 1 + 0.42 * Math.log10(Math.max(1, elements)));
}

function fix(value: number): number {
  return Math.round(value * 10) / 10;
}
