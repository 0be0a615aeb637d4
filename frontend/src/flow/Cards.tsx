/** Draws one card or the frame of one open group. Knows where nothing stands: its place comes from outside. */

import { Component } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { words } from "../strings";
import type { CallInfo } from "../types";
import { cardLines, detailAt, sizesAt, thumbnailSide, type CardRoom, type CardWords, type TextLine } from "./detail";
import type { Unit } from "../graph/folds";
import { CELL, MATRIX_TOP, matrixRows } from "./picture";
import { cutMiddle, measure } from "./text";
import type { Thumbnails } from "./props";

export interface CardProps {
  index: number;
  call: CallInfo;
  unit: Unit;
  frame: boolean;
  x: number;
  y: number;
  width: number;
  height: number;
  zoom: number;
  said: CardWords;
  badge: string;
  /** `1st of 2 calls` at the right of an open group's title. */
  nth: string;
  label: string;
  tooltip: string;
  chosen: boolean;
  lit: boolean;
  /** Whether Tab comes here; arrow keys lead on. */
  tab: boolean;
  colour: string | null;
  /** Repeats: the colours of the blocks' cards, block by block. */
  cells: (string | null)[][];
  mark: "failure" | "warning" | undefined;
  thumbnail: Thumbnails | null;
}

const BAR = 5;

/** Drawn again only when one of its properties changed: hovering over a thousand cards redraws two. */
export class CardView extends Component<CardProps> {
  override shouldComponentUpdate(next: CardProps): boolean {
    return (Object.keys(next) as (keyof CardProps)[]).some((key) => next[key] !== this.props[key]);
  }

  override render(props: CardProps) {
    return <Card {...props} />;
  }
}

function Card(props: CardProps) {
  const { unit, frame, call, chosen, lit } = props;
  const kind = frame ? "group" : unit.kind;
  const name = ["card", kind, frame ? "frame" : "", chosen ? "chosen" : "", lit ? "lit" : ""].filter(Boolean).join(" ");
  return (
    <g
      class={name} data-call={call.path} data-kind={kind === "call" ? "card" : kind} data-index={props.index}
      data-open={kind === "group" ? String(frame) : undefined} role="button" tabindex={props.tab ? 0 : -1}
      aria-label={props.label} aria-pressed={chosen} aria-expanded={kind === "call" ? undefined : frame}
      transform={`translate(${props.x} ${props.y})`}
    >
      {frame ? <Frame {...props} /> : <Face {...props} />}
    </g>
  );
}

function Face(props: CardProps) {
  const { width, height, unit, zoom } = props;
  const detail = detailAt(zoom);
  const bare = props.call.kind === "input" && props.colour === null;
  if (detail === "block" && unit.kind !== "repeat") {
    return <rect class={props.colour === null && !bare ? "body absent" : "body"} width={width} height={height} rx={6} style={props.colour === null ? undefined : { fill: props.colour }} />;
  }
  const piled = unit.kind === "stack" || unit.kind === "group";
  return (
    <>
      {unit.kind === "call" ? null : <title>{props.tooltip}</title>}
      {piled ? <path class="sheet" d={`M6 ${height}v1a3 3 0 0 0 3 3H${width - 9}a3 3 0 0 0 3 -3v-1`} /> : <rect class="under" x={0.5} y={1.5} width={width - 1} height={height} rx={6} />}
      <rect class="body" width={width} height={height} rx={6} />
      {unit.kind === "repeat" ? <Matrix {...props} /> : <Content {...props} />}
      {bare || unit.kind === "repeat" ? null : <Bar {...props} />}
    </>
  );
}

/** The colour-by at the card's foot; hatched where there is no value, so that it never looks like zero. */
function Bar({ width, height, colour }: CardProps) {
  const d = `M.6 ${height - BAR}H${width - 0.6}v0a4.6 4.6 0 0 1 -4.6 4.6H5.2a4.6 4.6 0 0 1 -4.6 -4.6z`;
  return <path class={colour === null ? "absent" : "bar"} data-bar={colour ?? ""} d={d} style={colour === null ? undefined : { fill: colour }} />;
}

function Content(props: CardProps) {
  const { width, height, zoom, said, badge, mark, unit } = props;
  const sizes = sizesAt(zoom);
  const badgeWidth = badge === "" ? 0 : measure(badge, "plain", sizes.small) + 8 / Math.min(1, zoom);
  const hasChevron = unit.kind === "group" || (unit.opened && unit.key !== null);
  const chevron = Math.max(16, 14 / zoom);
  const room: CardRoom = {
    width, height: height - BAR,
    firstRight: (hasChevron ? chevron : 0) + (mark === undefined ? 0 : sizes.small + 2),
    lastRight: badgeWidth === 0 ? 0 : badgeWidth + 2,
    thumbnail: props.thumbnail !== null && props.thumbnail.has(props.call.path),
  };
  const side = thumbnailSide(said, room, zoom);
  const lines = cardLines(said, room, zoom);
  const last = lines[lines.length - 1];
  return (
    <>
      {side > 0 ? <Picture of={props.thumbnail!} path={props.call.path} side={side} y={(height - BAR - side) / 2} zoom={zoom} /> : null}
      {lines.map((line, index) => <Words key={index} line={line} />)}
      {mark === undefined ? null : <Mark mark={mark} x={width - 8 - (hasChevron ? chevron : 0)} size={sizes.small} />}
      {badge === "" || last === undefined ? null : <Badge text={badge} right={width - 7} base={last.y} size={sizes.small} width={badgeWidth} />}
      {hasChevron ? <Toggle x={width - 4 - chevron} y={3} size={chevron} open={false} fold={unit.opened} /> : null}
      {unit.kind === "stack" && zoom >= 0.8 ? <Toggle x={width - 4 - chevron} y={(height - BAR - chevron) / 2} size={chevron} open={false} fold={false} /> : null}
    </>
  );
}

function Words({ line }: { line: TextLine }) {
  return (
    <text class={line.face} x={line.x} y={line.y} font-size={line.size} textLength={line.squeeze ?? undefined} lengthAdjust={line.squeeze === null ? undefined : "spacingAndGlyphs"}>
      {line.text}
    </text>
  );
}

function Badge({ text, right, base, size, width }: { text: string; right: number; base: number; size: number; width: number }) {
  return (
    <g class="badge">
      <rect x={right - width} y={base - size * 0.93} width={width} height={size * 1.16} rx={3} />
      <text x={right - width / 2} y={base - size * 0.02} font-size={size} text-anchor="middle">{text}</text>
    </g>
  );
}

/** Health by shape: a square failed, a triangle warns. */
function Mark({ mark, x, size }: { mark: "failure" | "warning"; x: number; size: number }) {
  const s = size * 0.75;
  const d = mark === "failure" ? `M${x - s} 6h${s}v${s}h${-s}z` : `M${x - s / 2} 6l${s / 2} ${s}h${-s}z`;
  return <path class={mark} d={d} role="img" aria-label={words.flow[mark]} />;
}

/** The chevron that opens (▸) or closes (▾) a group, or folds a stack again. */
function Toggle({ x, y, size, open, fold }: { x: number; y: number; size: number; open: boolean; fold: boolean }) {
  const said = fold ? words.flow.fold : open ? words.flow.close : words.flow.open;
  return (
    <g class="toggle" data-toggle data-control transform={`translate(${x} ${y}) scale(${size / 16})`} aria-label={said}>
      <title>{said}</title>
      <rect width={16} height={16} rx={4} />
      <path d={open ? "M4.5 6.5L8 10L11.5 6.5" : fold ? "M9.5 4.5L6 8L9.5 11.5" : "M6.5 4.5L10 8L6.5 11.5"} stroke-width={1.6} />
    </g>
  );
}

/** A repeat: one column per block, one row per card of the block, so that depth stays visible. */
function Matrix(props: CardProps) {
  const { unit, zoom, said, badge, height } = props;
  const sizes = sizesAt(zoom);
  const rows = matrixRows(unit);
  const written = zoom >= 0.45;
  const badgeWidth = written ? measure(badge, "name", sizes.small) + 4 : 0;
  const room = props.width - 20 - badgeWidth - 18 / Math.min(1, zoom);
  return (
    <>
      {written ? <text class="name" x={10} y={18} font-size={sizes.name}>{cutMiddle(said.name, "name", sizes.name, room)}</text> : null}
      {written ? <text class="plain" x={props.width - 24} y={18} font-size={sizes.small} text-anchor="end">{badge}</text> : null}
      {props.cells.map((column, block) =>
        column.slice(0, rows).map((colour, row) => (
          <rect
            key={`${block} ${row}`} class={colour === null ? "cell-absent" : "cell"} x={10 + block * CELL} y={MATRIX_TOP + row * CELL}
            width={CELL - 1} height={CELL - 1} rx={1.5} style={colour === null ? undefined : { fill: colour }}
          />
        )),
      )}
      {zoom >= 0.8 ? <text class="mono" x={10} y={height - 7} font-size={sizes.small}>{said.shape}</text> : null}
      {written ? <Toggle x={props.width - 20} y={4} size={16} open={false} fold={false} /> : null}
    </>
  );
}

function Frame(props: CardProps) {
  const { width, height, zoom, said, nth } = props;
  const size = Math.max(12 / zoom, 12);
  const small = Math.max(11 / zoom, 11);
  // Far out, a title larger than its header grows upwards, out of the frame.
  const base = size > 20 ? 25 : 20;
  const sub = measure(nth, "plain", small);
  const withNth = zoom >= 0.45 && nth !== "" && width - sub - 48 > measure(said.name, "name", size) * 0.8;
  const room = width - 24 - 18 - (withNth ? sub + 12 : 0);
  return (
    <>
      <rect class="body" width={width} height={height} rx={10} />
      {zoom >= 0.45 ? <Toggle x={8} y={base - 12.5} size={16} open fold={false} /> : null}
      <text class="name" x={zoom >= 0.45 ? 28 : 10} y={base} font-size={size}>{cutMiddle(said.name, "name", size, room)}</text>
      {withNth ? <text class="plain" x={width - 12} y={base} font-size={small} text-anchor="end">{nth}</text> : null}
    </>
  );
}

/** Maps of one thumbnail: one far off, four, and nine near by. */
const mapsAt = (pixels: number, zoom: number): number => (zoom >= 1.6 ? 9 : pixels >= 30 ? 4 : 1);

/** The thumbnail's slot; it is drawn again when what it shows has arrived or changed. */
function Picture({ of, path, side, y, zoom }: { y: number; of: Thumbnails; path: string; side: number; zoom: number }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const changed = of.changed(path).value;
  const pixels = Math.max(8, Math.round(side * zoom));
  useEffect(() => {
    const target = canvas.current;
    if (target === null) return;
    const ratio = window.devicePixelRatio || 1;
    target.width = target.height = Math.round(pixels * ratio);
    const pen = target.getContext("2d")!;
    pen.scale(ratio, ratio);
    of.draw(pen, path, 0, 0, pixels, pixels, mapsAt(pixels, zoom));
  }, [of, path, pixels, changed]);
  return (
    <foreignObject x={7} y={y} width={side} height={side}>
      <canvas ref={canvas} data-thumbnail={path} style={{ width: `${side}px`, height: `${side}px`, borderRadius: "3px", display: "block" }} />
    </foreignObject>
  );
}
