/** One chart over the steps: the only file that knows uPlot. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { css, parseHex } from "../colour/tables";
import { count, number } from "../format";
import { nearestIndex, dark } from "../state";
import { ticksOf } from "./ticks";

export interface Line {
  name: string;
  values: ArrayLike<number>;
  /** A colour token, or a colour of CSS. */
  colour: string;
  dashed?: boolean;
  /** Not drawn, and written nowhere: the edge of a band. */
  hidden?: boolean;
  /** Of another run: a step without a number is one that it did not record. */
  foreign?: boolean;
}

/** The area between two lines, by their places among them. */
export interface Band {
  over: number;
  under: number;
  colour: string;
  opacity: number;
}

interface ChartProps {
  x: Float64Array;
  lines: Line[];
  bands?: Band[];
  /** Whether a logarithm is wanted, where the numbers span enough for one. */
  logarithmic?: boolean;
  height: number;
  /** The step at the cursor, marked by a line. */
  now: number;
  onPick(step: number): void;
}

/** A logarithm has no zero, and a gap is not a zero: both break the line. */
function drawable(values: ArrayLike<number>, logarithmic: boolean): (number | null)[] {
  return Array.from(values, (value) => (Number.isFinite(value) && (!logarithmic || value > 0) ? value : null));
}

/** A logarithm pays only where the numbers span a decade. */
function spansDecade(lines: Line[]): boolean {
  let low = Infinity;
  let high = 0;
  for (const { values } of lines) {
    for (let i = 0; i < values.length; i++) {
      if (!(values[i]! > 0 && values[i]! < Infinity)) continue;
      low = Math.min(low, values[i]!);
      high = Math.max(high, values[i]!);
    }
  }
  return high > 10 * low;
}

/** A canvas knows no variables of CSS. */
function token(name: string): string {
  const variable = name.startsWith("--") ? name : /^var\((--[\w-]+)\)$/.exec(name)?.[1];
  return variable ? getComputedStyle(document.documentElement).getPropertyValue(variable).trim() : name;
}

function withOpacity(colour: string, opacity: number): string {
  return css(parseHex(token(colour))).replace(")", ` / ${opacity})`);
}

function options(props: ChartProps, width: number, hover: (index: number | null) => void, now: () => number): uPlot.Options {
  const { lines, logarithmic, height, onPick, x } = props;
  const axis: uPlot.Axis = {
    stroke: token("--ink-3"),
    font: `11px ${token("--mono")}`,
    grid: { stroke: token("--line"), width: 1 },
    ticks: { show: false },
    gap: 4,
  };
  const ticksOn = (low: number, high: number) => ticksOf(low, high, Boolean(logarithmic), height > 120 ? 3 : 2);
  return {
    width,
    height,
    padding: [6, 14, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 5 } },
    scales: { x: { time: false }, y: logarithmic ? { distr: 3, range: (_, low, high) => [low * 0.85, high * 1.15] } : {} },
    axes: [
      { ...axis, grid: { show: false }, size: 22, values: (_, splits) => splits.map((step) => (Number.isInteger(step) ? count(step) : "")) },
      { ...axis, size: 50, filter: (_, splits) => splits, splits: (_, __, low, high) => ticksOn(low, high).map(({ at }) => at),
        values: ({ scales }) => ticksOn(scales.y!.min!, scales.y!.max!).map(({ text }) => text) },
    ],
    bands: props.bands?.map(({ over, under, colour, opacity }) => ({ series: [over + 1, under + 1], fill: withOpacity(colour, opacity) })),
    series: [{}, ...lines.map(({ name, colour, dashed, hidden }) => ({
      label: name,
      // A band needs the path of its edges, which uPlot makes only of lines that have a stroke.
      stroke: hidden ? "transparent" : token(colour),
      spanGaps: false,
      width: hidden ? 0 : 1.4,
      dash: dashed ? [4, 3] : undefined,
      points: { show: hidden ? false : x.length < 3, size: 5 },
    }))],
    hooks: {
      setCursor: [(plot) => hover(plot.cursor.idx ?? null)],
      draw: [(plot) => markNow(plot, now())],
      ready: [(plot) => plot.over.addEventListener("click", () => {
        const step = x[plot.cursor.idx ?? -1];
        if (step !== undefined) onPick(step);
      })],
    },
  };
}

function markNow(plot: uPlot, step: number): void {
  const x = Math.round(plot.valToPos(step, "x", true));
  const { left, top, width, height } = plot.bbox;
  if (x < left || x > left + width) return;
  plot.ctx.save();
  plot.ctx.strokeStyle = token("--accent");
  plot.ctx.lineWidth = devicePixelRatio;
  plot.ctx.setLineDash([]);
  plot.ctx.beginPath();
  plot.ctx.moveTo(x, top);
  plot.ctx.lineTo(x, top + height);
  plot.ctx.stroke();
  plot.ctx.restore();
}

export function Chart(props: ChartProps) {
  const { x, lines, height, now } = props;
  const logarithmic = Boolean(props.logarithmic) && spansDecade(lines);
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const [width, setWidth] = useState(0);
  const [over, setOver] = useState<number | null>(null);
  useLayoutEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry!.contentRect.width)));
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, []);
  const look = `${lines.map(({ name, colour, dashed }) => name + colour + dashed).join()} ${props.bands?.length ?? 0} ${height} ${dark.value} ${logarithmic} ${width > 0}`;
  const numbers: uPlot.AlignedData = [x, ...lines.map(({ values }) => drawable(values, logarithmic))];
  useEffect(() => {
    if (!width) return;
    plot.current = new uPlot(
      options({ ...latest.current, logarithmic, onPick: (step) => latest.current.onPick(step) }, width, setOver, () => latest.current.now),
      numbers,
      box.current!,
    );
    return () => plot.current?.destroy();
  }, [look]);
  useEffect(() => plot.current?.setSize({ width, height }), [width, height]);
  useEffect(() => plot.current?.setData(numbers), [x, ...lines.map(({ values }) => values), lines.length]);
  useEffect(() => plot.current?.redraw(), [now]);
  const index = over ?? nearestIndex(x, now);
  return (
    <div class="chart">
      <div class="chart-box" ref={box} style={{ height: `${height}px` }} />
      <p class="note readout mono">
        <span class="quiet">step {count(x[index] ?? NaN)}</span>
        {lines.map(({ name, values, colour, hidden, foreign }, i) => (
          <span key={i} class="entry-of">
            {!hidden && <i class="key" style={{ background: colour.startsWith("--") ? `var(${colour})` : colour }} />}
            <span class="quiet cut">{name}</span> {foreign && Number.isNaN(values[index] ?? NaN) ? "–" : number(values[index] ?? NaN)}
          </span>
        ))}
      </p>
    </div>
  );
}
