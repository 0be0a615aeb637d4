/** What the page hands to the flow picture. Calls are named by their index in `graph.calls`, groups and folds by their keys. */

import type { ReadonlySignal, Signal } from "@preact/signals";
import type { GraphInfo } from "../types";

/** The small pictures of outputs, by call path. */
export interface Thumbnails {
  /** Whether there is anything to give room to. */
  has(path: string): boolean;
  /** Another text whenever there is something else to draw. */
  changed(path: string): ReadonlySignal<string>;
  /** Draws into a rectangle, with at most so many maps. */
  draw(pen: CanvasRenderingContext2D, path: string, x: number, y: number, width: number, height: number, maps: number): void;
}

/** Something after the output that is no call. */
export interface TailCard {
  key: string;
  name: string;
  count: string;
  chosen: boolean;
  pick(): void;
}

export interface FlowProps {
  graph: GraphInfo;
  /** The model's or the run's name, first in the breadcrumb. */
  title: string;
  /** A CSS colour for each call; null: no value, drawn as hatching and never like zero. */
  colours: ReadonlySignal<readonly (string | null)[]>;
  chosen: Signal<number | null>;
  hovered: Signal<number | null>;
  /** Call paths of the groups that stand open; null: as the first view decides. */
  open: Signal<ReadonlySet<string> | null>;
  /** Keys (`foldKey` in graph/folds.ts) of the stacks and repeats that the person opened. */
  unfolded: Signal<ReadonlySet<string>>;
  tail: ReadonlySignal<readonly TailCard[]>;
  marks: ReadonlySignal<ReadonlyMap<number, "failure" | "warning">>;
  /** Null until exact values exist: then cards give the room to their text. */
  thumbnails: ReadonlySignal<Thumbnails | null>;
}
