/** Draws the part of the picture that is in view: frames, edges, ties, cards. Knows no camera: the transform is set from outside. */

import { useMemo } from "preact/hooks";
import { useComputed, type ReadonlySignal } from "@preact/signals";
import type { Unit } from "../graph/folds";
import type { Tree } from "../graph/tree";
import { words } from "../strings";
import { badgeOf, cardWords, derivedTip, label, tooltip } from "./cardview";
import { CardView, type CardProps } from "./Cards";
import type { Positions } from "./layout";
import type { Card, Picture } from "./picture";
import type { FlowProps } from "./props";
import { Stems, Tail } from "./Tail";
import { tiesOf } from "./ties";
import { edgeWidth, roundedPath } from "./wires";

export interface Rect {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

export interface SceneProps extends Pick<FlowProps, "colours" | "chosen" | "hovered" | "marks" | "thumbnails" | "tail"> {
  tree: Tree;
  picture: Picture;
  positions: Positions;
  /** What may be seen, with some room around it, in the picture's units. */
  window: ReadonlySignal<Rect>;
  zoom: ReadonlySignal<number>;
}

export function Scene(props: SceneProps) {
  const { picture, positions } = props;
  const window = props.window.value;
  const zoom = props.zoom.value;
  const chosenBox = useComputed(() => boxOfCall(picture, props.chosen.value));
  const inView = useMemo(() => seen(picture, positions, window), [picture, positions, window]);
  const frames = inView.boxes.filter((box) => picture.cards[box]!.frame);
  const cards = inView.boxes.filter((box) => !picture.cards[box]!.frame);
  const tail = { tree: props.tree, picture, positions, cards: props.tail.value, zoom };
  return (
    <>
      <Stages positions={positions} window={window} zoom={zoom} />
      <Boxes {...props} boxes={frames} />
      <Edges tree={props.tree} picture={picture} positions={positions} shown={inView.edges} chosen={chosenBox.value} />
      <Ties {...props} />
      <Stems {...tail} />
      <Boxes {...props} boxes={cards} />
      <Tail {...tail} />
    </>
  );
}

export function boxOfCall(picture: Picture, call: number | null): number | null {
  const box = call === null ? -1 : picture.boxOf[call] ?? -1;
  return box < 0 ? null : box;
}

function Boxes({ tree, picture, positions, boxes, ...props }: SceneProps & { boxes: number[] }) {
  const zoom = props.zoom.value;
  const colours = props.colours.value;
  const marks = props.marks.value;
  const chosen = boxOfCall(picture, props.chosen.value);
  const lit = litBoxes(tree, picture, props.hovered.value);
  const told = useMemo(() => new Map<number, Told>(), [picture]);
  return (
    <g>
      {boxes.map((index) => {
        const card = picture.cards[index]!;
        const { unit } = card;
        let said = told.get(index);
        if (said === undefined) told.set(index, (said = tell(tree, card)));
        return (
          <CardView
            key={`${unit.kind} ${unit.head}`} index={index} call={tree.calls[unit.head]!} unit={unit} frame={card.frame}
            x={positions.x[index]!} y={positions.y[index]!} width={positions.width[index]!} height={positions.height[index]!} zoom={zoom}
            {...said} chosen={index === chosen} lit={lit.has(index)}
            tab={chosen === null ? index === boxes[0] : index === chosen} colour={colours[unit.head] ?? null}
            cells={unit.kind === "repeat" ? cellColours(unit, colours) : NO_CELLS} mark={worst(unit, marks)} thumbnail={props.thumbnails.value}
          />
        );
      })}
    </g>
  );
}

const NO_CELLS: (string | null)[][] = [];

/** The words of one card: they change with the picture only, not with step, choice or zoom. */
type Told = Pick<CardProps, "said" | "badge" | "nth" | "label" | "tooltip">;

function tell(tree: Tree, card: Card): Told {
  const { k, n } = tree.occurrence[card.unit.head]!;
  return {
    said: cardWords(tree, card), badge: badgeOf(tree, card), nth: n > 1 ? words.flow.nthOf(k, n) : "",
    label: label(tree, card), tooltip: tooltip(tree, card),
  };
}

function cellColours(unit: Unit, colours: readonly (string | null)[]): (string | null)[][] {
  return unit.blocks.map((block) => block.map((part) => colours[part.head] ?? null));
}

function worst(unit: Unit, marks: ReadonlyMap<number, "failure" | "warning">): "failure" | "warning" | undefined {
  let found: "failure" | "warning" | undefined;
  for (const call of unit.members) {
    const mark = marks.get(call);
    if (mark === "failure") return mark;
    found = mark ?? found;
  }
  return found;
}

/** The boxes of all calls of the hovered call's layer. */
function litBoxes(tree: Tree, picture: Picture, hovered: number | null): Set<number> {
  const lit = new Set<number>();
  const layer = hovered === null ? null : tree.calls[hovered]?.layer ?? null;
  if (hovered !== null && layer === null) lit.add(picture.boxOf[hovered] ?? -1);
  if (layer !== null) for (const call of tree.callsOfLayer[layer]!) lit.add(picture.boxOf[call]!);
  return lit;
}

interface EdgesProps extends Pick<SceneProps, "tree" | "picture" | "positions"> {
  shown: number[];
  chosen: number | null;
}

function Edges({ tree, picture, positions, shown, chosen }: EdgesProps) {
  const drawn = useMemo(() => new Map<number, string>(), [positions]);
  const shape = (edge: number): string => {
    let d = drawn.get(edge);
    if (d === undefined) drawn.set(edge, (d = roundedPath(positions.paths[edge]!)));
    return d;
  };
  const touches = (edge: number): boolean => chosen !== null && (picture.edges[edge]!.from === chosen || picture.edges[edge]!.to === chosen);
  const ordered = [...shown.filter((edge) => !touches(edge)), ...shown.filter(touches)];
  return (
    <g aria-hidden="true">
      {ordered.map((edge) => {
        const { elements, derived, from, to } = picture.edges[edge]!;
        const look = `edge${touches(edge) ? " chosen" : ""}`;
        const drawn = <path key={edge} class={derived ? `${look} derived` : look} d={shape(edge)} stroke-width={edgeWidth(elements)} />;
        if (!derived) return drawn;
        return (
          <g key={edge} data-derived>
            <title>{derivedTip(tree, picture.cards[from]!, picture.cards[to]!)}</title>
            {drawn}
            <path class="reach" d={shape(edge)} />
          </g>
        );
      })}
    </g>
  );
}

function Ties({ tree, picture, positions, chosen, hovered }: SceneProps) {
  const ties = tiesOf(tree, picture, positions, [chosen.value, hovered.value]);
  return (
    <g aria-hidden="true">
      {ties.map((tie) => (
        <path key={tie.layer} class="tie" data-tie={tree.graph.layers[tie.layer]!.path} d={tie.strokes.map((points) => roundedPath(points, 4)).join("")} />
      ))}
    </g>
  );
}

/** The label of each stage, and a thin rule above all but the first. */
function Stages({ positions, window, zoom }: { positions: Positions; window: Rect; zoom: number }) {
  if (zoom < 0.3) return null;
  const size = Math.max(11 / zoom, 11);
  return (
    <g class="stages">
      {positions.stages.map((stage, index) => {
        if (stage.y > window.bottom || stage.y + stage.height < window.top) return null;
        const outermost = stage.parent < 0;
        const left = outermost ? 24 : positions.x[stage.parent]! + 8;
        const right = outermost ? positions.extent.width - 16 : positions.x[stage.parent]! + positions.width[stage.parent]! - 8;
        return (
          <g key={index} class="stage" data-stage={stage.band}>
            {index > 0 && positions.stages[index - 1]!.parent === stage.parent ? <line x1={left} x2={right} y1={stage.y - 7} y2={stage.y - 7} /> : null}
            {outermost ? <text x={left} y={stage.y + 32 + size * 0.35} font-size={size}>{stage.band === "" ? words.flow.head : stage.band}</text> : null}
          </g>
        );
      })}
    </g>
  );
}

/** Boxes and edges that touch the window. */
function seen(picture: Picture, at: Positions, { left, top, right, bottom }: Rect): { boxes: number[]; edges: number[] } {
  const boxes: number[] = [];
  for (let box = 0; box < picture.cards.length; box++) {
    if (at.x[box]! > right || at.y[box]! > bottom || at.x[box]! + at.width[box]! < left || at.y[box]! + at.height[box]! < top) continue;
    boxes.push(box);
  }
  const edges: number[] = [];
  at.paths.forEach((path, edge) => {
    for (let i = 0; i + 3 < path.length; i += 2) {
      const outside = Math.min(path[i]!, path[i + 2]!) > right || Math.max(path[i]!, path[i + 2]!) < left ||
        Math.min(path[i + 1]!, path[i + 3]!) > bottom || Math.max(path[i + 1]!, path[i + 3]!) < top;
      if (outside) continue;
      edges.push(edge);
      return;
    }
  });
  return { boxes, edges };
}

