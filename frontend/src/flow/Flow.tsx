/** The flow view: joins graph, layout, camera and scene, and turns keys and clicks into choices. */

import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { useComputed, useSignal } from "@preact/signals";
import { makeFolds } from "../graph/folds";
import { firstOpen } from "../graph/opening";
import { ancestors, isGroup, makeTree } from "../graph/tree";
import { words } from "../strings";
import { displayName } from "./cardview";
import { Minimap } from "./Minimap";
import type { FlowProps } from "./props";
import { boxOfCall, Scene } from "./Scene";
import { adoptSheet } from "./sheet";
import { isArrow, step } from "./steering";
import { Stage } from "./stage";

export function Flow(props: FlowProps) {
  const { graph, open, unfolded, chosen, hovered } = props;
  const host = useRef<HTMLDivElement>(null);
  const svg = useRef<SVGSVGElement>(null);
  const world = useRef<SVGGElement>(null);
  const stage = useMemo(() => new Stage(), []);
  const tree = useMemo(() => makeTree(graph), [graph]);
  const folds = useMemo(() => makeFolds(tree), [tree]);
  const openNow = open.value ?? firstOpen(tree, folds);
  const dragging = useSignal(false);
  /** The call whose card had the focus when it was opened or closed: its new card or frame gets it back. */
  const focused = useRef<number | null>(null);

  useLayoutEffect(() => {
    adoptSheet();
    return stage.mount(host.current!, svg.current!, world.current!, (active) => { dragging.value = active; });
  }, [stage]);
  useLayoutEffect(() => { stage.show(tree, folds, openNow, unfolded.value); }, [tree, folds, open.value, unfolded.value]);
  useEffect(() => chosen.subscribe((call) => stage.reveal(call)), [stage, chosen]);

  const toggle = (box: number): void => {
    const card = stage.shown.peek()?.picture.cards[box];
    if (card === undefined) return;
    stage.anchor(card.unit.head);
    if (svg.current!.contains(document.activeElement)) focused.current = card.unit.head;
    const group = card.unit.kind === "group";
    const key = group ? tree.calls[card.unit.head]!.path : card.unit.key;
    if (key === null) return;
    const next = new Set(group ? openNow : unfolded.peek());
    if (!next.delete(key)) next.add(key);
    if (group) open.value = next;
    else unfolded.value = next;
  };
  const boxAt = (event: Event): number | null => {
    const index = (event.target as Element).closest("[data-index]")?.getAttribute("data-index");
    return index == null ? null : Number(index);
  };
  const headOf = (box: number): number => stage.shown.peek()!.picture.cards[box]!.unit.head;
  const click = (event: MouseEvent): void => {
    const box = boxAt(event);
    if (dragging.peek() || box === null) return;
    if ((event.target as Element).closest("[data-toggle]") !== null) return toggle(box);
    chosen.value = headOf(box);
  };
  const key = (event: KeyboardEvent): void => {
    const shown = stage.shown.peek();
    if (shown === null || event.ctrlKey || event.metaKey || event.altKey) return;
    const at = boxAt(event) ?? boxOfCall(shown.picture, chosen.peek());
    if (isArrow(event.key)) {
      const next = step(shown.picture, shown.positions, boxOfCall(shown.picture, chosen.peek()) ?? null, event.key);
      if (next !== null) {
        chosen.value = headOf(next);
        requestAnimationFrame(() => svg.current?.querySelector<SVGGElement>(`[data-index="${next}"]`)?.focus({ preventScroll: true }));
      }
    } else if (event.key === "Enter" && at !== null) {
      if (chosen.peek() !== headOf(at)) chosen.value = headOf(at);
      toggle(at);
    } else if (event.key === "+" || event.key === "=") stage.zoomBy(1.25);
    else if (event.key === "-") stage.zoomBy(0.8);
    else if (event.key === "f" || event.key === "0") stage.fit();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  const shown = stage.shown.value;
  useEffect(() => {
    const box = focused.current === null ? undefined : shown?.picture.boxOf[focused.current];
    focused.current = null;
    if (box !== undefined) svg.current!.querySelector<SVGGElement>(`[data-index="${box}"]`)?.focus({ preventScroll: true });
  }, [shown]);
  return (
    <div class={dragging.value ? "flow dragging" : "flow"} ref={host}>
      <svg
        class="scene" ref={svg} role="group" aria-label={words.flow.label} tabindex={shown === null ? 0 : -1} onClick={click} onKeyDown={key}
        onDblClick={(event) => { const box = boxAt(event); if (box !== null && (event.target as Element).closest("[data-toggle]") === null) toggle(box); }}
        onPointerOver={(event) => { const box = boxAt(event); hovered.value = box === null ? null : headOf(box); }}
        onPointerLeave={() => { hovered.value = null; }}
      >
        <defs>
          <pattern id="flow-absent" width="5" height="5" patternUnits="userSpaceOnUse"><path d="M-1 6L6 -1M-1 1L1 -1M4 6L6 4" stroke-width="0.9" /></pattern>
        </defs>
        <g ref={world}>
          {shown === null ? null : (
            <Scene
              tree={shown.tree} picture={shown.picture} positions={shown.positions} window={stage.window} zoom={stage.zoom} colours={props.colours}
              chosen={chosen} hovered={hovered} marks={props.marks} thumbnails={props.thumbnails} tail={props.tail}
            />
          )}
        </g>
      </svg>
      <Overhead {...props} stage={stage} />
      <div class="corner">
        {shown === null ? null : <Minimap picture={shown.picture} positions={shown.positions} camera={stage.camera} view={stage.view} goTo={(x, y) => stage.centre(x, y)} />}
        <Zoom stage={stage} />
      </div>
    </div>
  );
}

function Zoom({ stage }: { stage: Stage }) {
  return (
    <div class="zoom" data-control>
      <button type="button" aria-label={words.flow.zoomOut} title={`${words.flow.zoomOut} (−)`} onClick={() => stage.zoomBy(0.8)}>−</button>
      <output>{words.flow.zoom(Math.round(stage.zoom.value * 100))}</output>
      <button type="button" aria-label={words.flow.zoomIn} title={`${words.flow.zoomIn} (+)`} onClick={() => stage.zoomBy(1.25)}>+</button>
      <button type="button" title={`${words.flow.fit} (f)`} onClick={() => stage.fit()}>{words.flow.fit}</button>
    </div>
  );
}

/** The breadcrumb of the chosen call, and what the picture shows of how much. */
function Overhead({ title, chosen, stage }: FlowProps & { stage: Stage }) {
  const shown = stage.shown.value;
  const trail = useComputed(() => {
    const call = chosen.value;
    const tree = stage.shown.value?.tree;
    if (call === null || tree === undefined || tree.calls[call] === undefined) return [];
    return isGroup(tree, call) && tree.calls[call]!.path !== "." ? [...ancestors(tree, call), call] : ancestors(tree, call);
  });
  if (shown === null) return null;
  const { tree, picture } = shown;
  const folded = picture.cards.some((card) => card.unit.kind === "stack");
  const counted = picture.cardCount === tree.leafCount ? words.flow.calls(tree.leafCount, tree.leafCount) : words.flow.callsAsCards(tree.leafCount, picture.cardCount);
  return (
    <div class="overhead" data-control>
      <nav aria-label={words.flow.breadcrumb}>
        <button type="button" onClick={() => stage.fit()}>{title}</button>
        {trail.value.map((call) => [
          <i key={`/${call}`}>/</i>,
          <button type="button" key={call} onClick={() => { chosen.value = call; stage.approach(call); }}>{displayName(tree.calls[call]!.path, tree.calls[call]!.name)}</button>,
        ])}
      </nav>
      <span class="note">{folded ? `${counted} · ${words.flow.stackNote}` : counted}</span>
    </div>
  );
}
