/** A grid of maps on one canvas that scrolls: only what is in sight is fetched and drawn. Says which number is pointed at or chosen. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { MapColours } from "../colour/mapPixels";
import { words } from "../strings";
import type { Box } from "../valuesApi";
import { drawScaled, frame, hatch, PaintedPlanes, sized } from "./draw";
import { cornerOf, hit, inView, layGrid, rectOf, roomyEdge, type GridLayout, type Hit } from "./gridLayout";
import type { Plane } from "./planes";
import type { PlaneStore } from "./store";
import { indexAt, placeOf, planePlaces, type MapView } from "./view";

/** Around all maps, so that the frame of the outermost is not cut. */
const EDGE = 2;

export interface GridProps {
  store: PlaneStore;
  /** Planes in the order in which they are drawn; null: as they are. */
  order: readonly number[] | null;
  edge: number;
  /** How many times larger than that the person wants maps. */
  zoom?: number;
  /** How many maps belong side by side. */
  across?: number | undefined;
  /** A height that all maps should fill together, if they are few. */
  fill?: number | undefined;
  reachOf(plane: Plane): number;
  colours: MapColours;
  name: string;
  /** The part that some later number saw. */
  window: Box | null;
  /** The number in the microscope, and the one pointed at in a grid beside this one. */
  marked: readonly number[] | null;
  pointed: readonly number[] | null;
  /** Told from outside what lies where, `data-tensor`. */
  tensor: string;
  onPoint(index: number[] | null): void;
  onChoose(index: number[]): void;
  onSeen?(first: number, last: number): void;
}

export function Grid(props: GridProps) {
  const { store, order, edge, zoom = 1, fill, across } = props;
  const { view } = store;
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const painted = useMemo(() => new PaintedPlanes(), [store]);
  const [room, setRoom] = useState({ width: 0, height: 0 });
  const [version, setVersion] = useState(0);
  const at = useRef<Hit | null>(null);
  const layout = useMemo(
    () => {
      const given = { count: view.count, rows: view.rows, cols: view.cols, width: room.width - 2 * EDGE, edge, across };
      return layGrid({ ...given, edge: zoom * (fill ? roomyEdge(given, fill - 2 * EDGE) : edge) });
    },
    [view, room.width, edge, zoom, fill, across],
  );

  useLayoutEffect(() => {
    const measure = () => setRoom({ width: box.current!.clientWidth, height: box.current!.clientHeight });
    const observer = new ResizeObserver(measure);
    observer.observe(box.current!);
    measure();
    return () => observer.disconnect();
  }, []);
  useEffect(() => store.version.subscribe(setVersion), [store]);
  useEffect(() => { box.current!.scrollTop = 0; }, [store, order]);

  const planeAt = (slot: number) => order?.[slot] ?? slot;
  const draw = useRef(() => {});
  draw.current = () => {
    const pen = sized(canvas.current!, room.width, room.height);
    const { scrollLeft, scrollTop } = box.current!;
    const [first, last] = inView(layout, scrollTop, scrollTop + room.height);
    const slots = Array.from({ length: last - first }, (_, i) => first + i);
    store.want(slots.map(planeAt));
    props.onSeen?.(first, last);
    pen.translate(EDGE - scrollLeft, EDGE - scrollTop);
    for (const slot of slots) drawCell(pen, props, layout, slot, planeAt(slot), painted);
    drawMarks(pen, props, layout, slots, planeAt);
  };
  useEffect(() => draw.current(), [room, layout, version, order, props.reachOf, props.colours, props.window, props.marked, props.pointed]);
  const pending = useRef(0);
  const later = () => {
    pending.current ||= requestAnimationFrame(() => {
      pending.current = 0;
      if (canvas.current) draw.current();
    });
  };

  const indexOf = (found: Hit): number[] | null => {
    if (view.wrapped && found.row * view.cols + found.col >= view.size) return null;
    return indexAt(view, planeAt(found.slot), found.row, found.col);
  };
  const pointAt = (found: Hit | null) => {
    at.current = found;
    props.onPoint(found && indexOf(found));
  };
  const found = (event: MouseEvent): Hit | null => {
    const { left, top } = canvas.current!.getBoundingClientRect();
    return hit(layout, event.clientX - left + box.current!.scrollLeft - EDGE, event.clientY - top + box.current!.scrollTop - EDGE);
  };
  const key = (event: KeyboardEvent) => {
    const moves: Record<string, [number, number]> = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    const move = moves[event.key];
    if (move) {
      const from = at.current;
      pointAt(from ? walk(layout, from, move[0], move[1]) : { slot: 0, row: 0, col: 0 });
    } else if (event.key === "Enter" && at.current) {
      const index = indexOf(at.current);
      if (index) props.onChoose(index);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div
      class="maps" ref={box} tabIndex={0} role="application" aria-label={words.exact.grid(props.name)} data-tensor={props.tensor}
      data-columns={layout.columns} data-cell={`${layout.cellWidth} ${layout.cellHeight}`} data-planes={view.count} data-sorted={order !== null}
      style={{ "--maps-height": `${layout.height + 2 * EDGE}px` }} onScroll={later} onKeyDown={key}
      onPointerMove={(event) => pointAt(found(event))} onPointerLeave={() => pointAt(null)}
      onClick={(event) => { const index = found(event) && indexOf(found(event)!); if (index) props.onChoose(index); }}
    >
      <div class="maps-room" style={{ height: `${layout.height + 2 * EDGE}px`, width: `${Math.max(layout.width + 2 * EDGE, room.width)}px` }}>
        <canvas ref={canvas} style={{ width: `${room.width}px`, height: `${room.height}px` }} />
      </div>
    </div>
  );
}

/** The next number in a direction; beyond a map's edge that of the next map in the same line or column. */
function walk(layout: GridLayout, { slot, row, col }: Hit, down: number, right: number): Hit {
  let [nextSlot, nextRow, nextCol] = [slot, row + down, col + right];
  if (nextCol < 0 || nextCol >= layout.cols) [nextSlot, nextCol] = [slot + right, right > 0 ? 0 : layout.cols - 1];
  if (nextRow < 0 || nextRow >= layout.rows) [nextSlot, nextRow] = [slot + down * layout.columns, down > 0 ? 0 : layout.rows - 1];
  return nextSlot >= 0 && nextSlot < layout.count ? { slot: nextSlot, row: nextRow, col: nextCol } : { slot, row, col };
}

function drawCell(pen: CanvasRenderingContext2D, props: GridProps, layout: GridLayout, slot: number, index: number, painted: PaintedPlanes): void {
  const { x, y } = cornerOf(layout, slot);
  const { cellWidth: width, cellHeight: height, rows, cols } = layout;
  const plane = props.store.get(index);
  if (!plane) return frame(pen, x + 1, y + 1, width - 2, height - 2, props.colours.line);
  if (plane.dead) hatch(pen, x, y, width, height, props.colours.hatch);
  else drawScaled(pen, painted.get(plane, rows, cols, props.reachOf(plane), props.colours, width, height), x, y, width, height);
  frame(pen, x + 1, y + 1, width - 2, height - 2, props.colours.line);
}

function drawMarks(pen: CanvasRenderingContext2D, props: GridProps, layout: GridLayout, slots: number[], planeAt: (slot: number) => number): void {
  const { view } = props.store;
  if (props.window) {
    for (const slot of slots) {
      const part = partOf(view, planeAt(slot), props.window);
      if (!part) continue;
      const rect = rectOf(layout, slot, part.row, part.col, part.rows, part.cols);
      frame(pen, rect.x, rect.y, rect.width, rect.height, props.colours.window, 1.5);
    }
  }
  for (const [index, isChosen] of [[props.pointed, false], [props.marked, true]] as const) {
    const place = index && placeOf(view, index);
    if (!place) continue;
    const slot = props.order ? props.order.indexOf(place.plane) : place.plane;
    const rect = rectOf(layout, slot, place.row, place.col);
    const corner = cornerOf(layout, slot);
    const colour = isChosen ? props.colours.chosen : props.colours.ink;
    if (view.count > 1) frame(pen, corner.x, corner.y, layout.cellWidth, layout.cellHeight, colour, isChosen ? 2 : 1);
    frame(pen, rect.x, rect.y, Math.max(3, rect.width), Math.max(3, rect.height), colour, isChosen ? 2 : 1.5);
  }
}

/** The rows and columns of one plane that a box of the tensor covers; null where the plane is not in it. */
export function partOf(view: MapView, plane: number, box: Box): { row: number; col: number; rows: number; cols: number } | null {
  if (box.length !== view.shape.length) return null;
  const places = planePlaces(view, plane);
  const isIn = view.planeAxes.every((axis, i) => places[i]! >= box[axis]![0] && places[i]! < box[axis]![1]);
  if (!isIn || view.wrapped) return null;
  const along = (axis: number): [number, number] => {
    const { start, step, length } = view.axes[axis]!;
    const from = Math.max(0, Math.ceil((box[axis]![0] - start) / step));
    return [from, Math.min(length, Math.ceil((box[axis]![1] - start) / step)) - from];
  };
  const [[row, rows], [col, cols]] = [along(view.rowAxis), along(view.colAxis)];
  return rows > 0 && cols > 0 ? { row, col, rows, cols } : null;
}
