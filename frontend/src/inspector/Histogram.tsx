/** Draws one histogram: bars of half octaves on a signed logarithm, zero in the middle, NaN and the infinities apart. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { histogramAxis, type Bar, type HistogramAxis } from "../colour/histogramAxis";
import { count, exponent, number, share } from "../format";
import { clear } from "../outline/strip";
import { dark, namedKind } from "../state";
import { kindShort, words } from "../strings";
import type { HistogramInfo } from "../types";

const HEIGHT = 132;
const FOOT = 20;
const HEAD = 6;

interface Shown extends Bar {
  name: string;
  sort: "negative" | "positive" | "zero" | "apart";
}

/** The bars as they are drawn, the odd ones at the right in a column of their own. */
function shownBars(histogram: HistogramInfo, axis: HistogramAxis): { bars: Shown[]; room: number } {
  const apart = [
    { name: words.distribution.negInf, count: histogram.neg_inf },
    { name: words.distribution.posInf, count: histogram.pos_inf },
    { name: words.distribution.nan, count: histogram.nan },
  ].filter((bar) => bar.count > 0);
  const room = 1 - 0.1 * apart.length;
  const bars: Shown[] = axis.bars.map((bar) => ({ ...bar, left: bar.left * room, right: bar.right * room, name: "", sort: bar.low < 0 ? "negative" : "positive" }));
  if (histogram.zero > 0) {
    const middle = ((axis.zero.left + axis.zero.right) / 2) * room;
    bars.push({ name: words.distribution.zero, low: 0, high: 0, count: histogram.zero, left: middle - 0.011, right: middle + 0.011, sort: "zero" });
  }
  apart.forEach((bar, i) => {
    const left = room + 0.1 * i + 0.03;
    bars.push({ ...bar, low: NaN, high: NaN, left, right: left + 0.05, sort: "apart" });
  });
  return { bars, room };
}

export function Histogram({ histogram, kind }: { histogram: HistogramInfo; kind: string }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [over, setOver] = useState<Shown | null>(null);
  const [width, setWidth] = useState(360);
  const axis = histogramAxis(histogram);
  const { bars, room } = shownBars(histogram, axis);
  useLayoutEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(Math.round(entry!.contentRect.width)));
    observer.observe(canvas.current!.parentElement!);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => draw(canvas.current!, width, bars, axis, room, over), [histogram, width, dark.value, over?.left]);
  const find = (event: PointerEvent) => {
    const { left } = canvas.current!.getBoundingClientRect();
    const x = (event.clientX - left) / width;
    const near = (bar: Shown) => Math.max(bar.left - x, x - bar.right, 0);
    const nearest = bars.reduce<Shown | null>((best, bar) => (!best || near(bar) < near(best) ? bar : best), null);
    setOver(nearest && near(nearest) < 0.02 ? nearest : null);
  };
  return (
    <div class="histogram">
      <canvas
        ref={canvas}
        style={{ height: `${HEIGHT}px`, width: `${width}px` }}
        role="img"
        aria-label={words.distribution.histogram(kindShort(namedKind(kind)))}
        onPointerMove={find}
        onPointerLeave={() => setOver(null)}
      />
      <p class="quiet note readout">{over ? describe(over, axis.total) : words.distribution.total(count(axis.total))}</p>
    </div>
  );
}

function describe(bar: Shown, total: number): string {
  const [many, part] = [count(bar.count), share(bar.count, total)];
  if (bar.sort === "zero" || bar.sort === "apart") return words.distribution.apart(bar.sort === "zero" ? words.distribution.exactZero : bar.name, many, part);
  return words.distribution.bin(number(bar.low, 3), number(bar.high, 3), many, part);
}

function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function draw(canvas: HTMLCanvasElement, width: number, bars: Shown[], axis: HistogramAxis, room: number, over: Shown | null): void {
  const context = clear(canvas, width, HEIGHT);
  const base = HEIGHT - FOOT;
  // Exact zeros are often most of all numbers; their bar may leave the frame, so that the others keep their shape.
  const most = Math.max(...bars.filter(({ sort }) => sort === "negative" || sort === "positive").map((bar) => bar.count), 0) || Infinity;
  const fills = { negative: colour("--neg"), positive: colour("--pos"), zero: colour("--edge"), apart: colour("--bad") };
  context.fillStyle = colour("--line");
  for (const { at } of axis.ticks) context.fillRect(Math.round(at * room * width), HEAD, 1, base - HEAD);
  for (const bar of bars) {
    const [left, right] = [bar.left * width, bar.right * width];
    const cut = bar.count > most || most === Infinity;
    const tall = cut ? base - HEAD : Math.max(1.5, ((base - HEAD) * bar.count) / most);
    const gap = right - left > 3 ? 1 : 0;
    context.globalAlpha = over && over !== bar && over.left !== bar.left ? 0.55 : 1;
    context.fillStyle = fills[bar.sort];
    context.fillRect(left, base - tall, Math.max(1, right - left - gap), tall);
    if (cut) sayShare(context, share(bar.count, axis.total), bar.sort === "apart", left, right, width * room);
  }
  context.globalAlpha = 1;
  context.fillStyle = colour("--line-strong");
  context.fillRect(0, base, width * room, 1);
  context.fillStyle = colour("--ink-3");
  context.font = `11px ${colour("--mono")}`;
  context.textAlign = "center";
  for (const { at, value } of axis.ticks) {
    const text = value === 0 ? "0" : exponent(value, 1);
    const half = context.measureText(text).width / 2;
    context.fillText(text, Math.min(width * room - half, Math.max(half, at * room * width)), HEIGHT - 5);
  }
  for (const bar of bars) if (bar.sort === "apart") context.fillText(bar.name, ((bar.left + bar.right) / 2) * width, HEIGHT - 5);
}


/** The share of a bar that leaves the frame: beside it where there is room, of those apart, which stand close, up the bar itself. */
function sayShare(context: CanvasRenderingContext2D, said: string, inside: boolean, left: number, right: number, end: number): void {
  context.font = `11px ${colour("--mono")}`;
  context.fillStyle = colour(inside ? "--panel" : "--ink-2");
  if (inside) {
    context.save();
    context.translate((left + right) / 2 + 4, HEIGHT - FOOT - 6);
    context.rotate(-Math.PI / 2);
    context.textAlign = "left";
    context.fillText(said, 0, 0);
    return context.restore();
  }
  const fits = right + 4 + context.measureText(said).width <= end;
  context.textAlign = fits ? "left" : "right";
  context.fillText(said, fits ? right + 4 : left - 4, HEAD + 9);
}
