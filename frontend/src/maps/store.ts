/** Fetches the planes of one view in small pieces, those in sight first, and keeps as many as there is room for. Draws nothing. */
import { signal } from "@preact/signals";
import { fetchValue, type ValuePart, type ValuePlace } from "../valuesApi";
import { makePlane, takePlanes, type Plane } from "./planes";
import { slicesParameter } from "./slices";
import { planePlaces, type MapView } from "./view";

/** Elements of one piece: a megabyte of float32, decoded in a few milliseconds. */
const PIECE = 1 << 18;
const MOST_PLANES = 64;
const AT_ONCE = 3;
const KEPT_ELEMENTS = 24 << 20;

export class PlaneStore {
  /** Rises when planes arrived. */
  readonly version = signal(0);
  readonly problem = signal("");
  private readonly kept = new Map<number, Plane>();
  private readonly running = new Set<number>();
  private wanted: number[] = [];
  private readonly line: number;
  private readonly perPiece: number;

  constructor(
    readonly view: MapView,
    private readonly ask: (slices: string) => Promise<ValuePart>,
  ) {
    this.line = view.axes[view.planeAxes.at(-1) ?? -1]?.length ?? 1;
    this.perPiece = Math.min(MOST_PLANES, this.line, Math.max(1, Math.floor(PIECE / view.size)));
  }

  get(plane: number): Plane | undefined {
    return this.kept.get(plane);
  }

  all(): Iterable<Plane> {
    return this.kept.values();
  }

  /** Asks for planes that are not here; what was asked before and has not begun is dropped. */
  want(planes: readonly number[]): void {
    const missing = planes.filter((plane) => !this.kept.has(plane));
    this.wanted = [...new Set(missing.map((plane) => this.pieceOf(plane)))].filter((piece) => !this.running.has(piece));
    this.pump();
  }

  /** Every plane, once all have arrived; for what needs them all. */
  async whole(): Promise<(Plane | undefined)[]> {
    const planes = Array.from({ length: this.view.count }, (_, plane) => plane);
    const pieces = [...new Set(planes.map((plane) => this.pieceOf(plane)))];
    await Promise.all(pieces.map((piece) => this.load(piece)));
    return planes.map((plane) => this.kept.get(plane));
  }

  private pieceOf(plane: number): number {
    const perLine = Math.ceil(this.line / this.perPiece);
    return Math.floor(plane / this.line) * perLine + Math.floor((plane % this.line) / this.perPiece);
  }

  private pump(): void {
    while (this.running.size < AT_ONCE && this.wanted.length) {
      const piece = this.wanted.shift()!;
      this.running.add(piece);
      void this.load(piece).finally(() => {
        this.running.delete(piece);
        this.version.value++;
        this.pump();
      });
    }
  }

  private async load(piece: number): Promise<void> {
    const perLine = Math.ceil(this.line / this.perPiece);
    const from = (piece % perLine) * this.perPiece;
    const count = Math.min(this.perPiece, this.line - from);
    const first = Math.floor(piece / perLine) * this.line + from;
    if (this.kept.has(first) && this.kept.has(first + count - 1)) return;
    try {
      const { values, shape } = await this.ask(this.slices(first, count));
      takePlanes(this.view, values, shape, count).forEach((each, i) => this.keep(first + i, makePlane(each)));
      this.problem.value = "";
    } catch (error) {
      this.problem.value = error instanceof Error ? error.message : String(error);
    }
  }

  private slices(first: number, count: number): string {
    const { view } = this;
    const axes = view.axes.map((axis) => ({ ...axis, single: false }));
    const places = planePlaces(view, first);
    view.planeAxes.forEach((axis, i) => {
      const length = i === view.planeAxes.length - 1 ? count : 1;
      const { step } = view.axes[axis]!;
      axes[axis] = { start: places[i]!, stop: places[i]! + (length - 1) * step + 1, step, length, single: false };
    });
    return slicesParameter(axes, view.shape);
  }

  private keep(plane: number, made: Plane): void {
    this.kept.set(plane, made);
    const room = Math.max(this.perPiece * 2, Math.floor(KEPT_ELEMENTS / this.view.size));
    for (const oldest of this.kept.keys()) {
      if (this.kept.size <= room) break;
      this.kept.delete(oldest);
    }
  }
}

const stores = new Map<string, PlaneStore>();
const KEPT_STORES = 12;

/** The same view of the same tensor has one store, wherever it is shown. */
export function storeOf(place: ValuePlace, view: MapView): PlaneStore {
  const key = JSON.stringify([place, view.axes, view.rowAxis, view.colAxis]);
  const store = stores.get(key) ?? new PlaneStore(view, (slices) => fetchValue(place, slices));
  stores.delete(key);
  stores.set(key, store);
  for (const oldest of stores.keys()) {
    if (stores.size <= KEPT_STORES) break;
    stores.delete(oldest);
  }
  return store;
}
