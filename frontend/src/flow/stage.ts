/** What is shown and from where: the laid-out picture, the camera and the part in view, as signals. Draws nothing itself. */

import { computed, signal } from "@preact/signals";
import type { Folds } from "../graph/folds";
import type { Tree } from "../graph/tree";
import { fitPicture, MANY, MANY_ZOOM } from "./fit";
import { LayoutClient } from "./layout.client";
import type { Positions } from "./layout";
import { held, listen, zoomAround, type Camera } from "./panzoom";
import { makePicture, type Picture } from "./picture";
import type { Rect } from "./Scene";
import { lineRoom } from "./wrap";

export interface Shown {
  tree: Tree;
  picture: Picture;
  positions: Positions;
}

/** Room kept free for the breadcrumb above and the legend and buttons below. */
const ABOVE = 36;
const BELOW = 44;

export class Stage {
  readonly shown = signal<Shown | null>(null);
  readonly camera = signal<Camera>({ x: 0, y: ABOVE, zoom: 1 });
  readonly zoom = computed(() => this.camera.value.zoom);
  readonly view = signal({ width: 0, height: 0 });
  /** The drawn part: larger than the view, and renewed only when the view leaves it. */
  readonly window = signal<Rect>({ left: 0, top: 0, right: 0, bottom: 0 });

  private readonly client = new LayoutClient();
  private world: SVGGElement | null = null;
  private svg: SVGSVGElement | null = null;
  private room = 0;
  private touched = false;
  private frame = 0;
  private drawn = "";
  private kept: { call: number; x: number; y: number } | null = null;
  private wanted: { tree: Tree; picture: Picture } | null = null;

  /** Begins to listen and to follow the element's size; the answer ends it. */
  mount(host: HTMLElement, svg: SVGSVGElement, world: SVGGElement, dragging: (active: boolean) => void): () => void {
    this.world = world;
    this.svg = svg;
    const size = (): void => {
      const { clientWidth: width, clientHeight: height } = host;
      const { width: before, height: beforeHeight } = this.view.peek();
      if (width === 0 || height === 0 || (width === before && height === beforeHeight)) return;
      this.view.value = { width, height };
      if (this.wanted !== null && (!this.touched || before === 0)) this.fit();
      else this.move(this.camera.peek());
    };
    size();
    const observer = new ResizeObserver(size);
    observer.observe(host);
    const stop = listen(host, {
      camera: () => this.camera.peek(),
      move: (camera) => { this.touched = true; this.move(camera); },
      dragging,
    });
    return () => {
      stop();
      observer.disconnect();
      cancelAnimationFrame(this.frame);
      this.client.close();
    };
  }

  show(tree: Tree, folds: Folds, open: ReadonlySet<string>, unfolded: ReadonlySet<string>): void {
    const isNew = this.wanted?.tree.graph.model !== tree.graph.model || this.wanted.tree.calls.length !== tree.calls.length;
    this.wanted = { tree, picture: makePicture(tree, folds, open, unfolded) };
    if (this.view.peek().width === 0) return;
    if (isNew || this.room === 0 || (!this.touched && this.kept === null)) this.fit();
    else this.relay();
  }

  /** Breaks the lines anew for the view and shows all of the picture, or its beginning. */
  fit(): void {
    if (this.wanted === null || this.view.peek().width === 0) return;
    const { picture } = this.wanted;
    this.touched = false;
    this.kept = null;
    const { width, height } = this.view.peek();
    const view = { width, height: height - ABOVE - BELOW };
    if (picture.boxes.length > MANY) {
      this.room = lineRoom(width, MANY_ZOOM);
      this.camera.value = { x: 0, y: ABOVE, zoom: MANY_ZOOM };
      return this.relay();
    }
    const fit = fitPicture(picture, view);
    this.room = fit.room;
    const slack = Math.max(0, view.width - fit.positions.extent.width * fit.zoom);
    this.camera.value = { x: Math.min(slack / 2, 24), y: ABOVE, zoom: fit.zoom };
    this.settle(fit.positions);
  }

  /** The card that was opened or closed stays where it is on the screen. */
  anchor(call: number): void {
    const shown = this.shown.peek();
    const box = shown?.picture.boxOf[call] ?? -1;
    if (shown == null || box < 0) return;
    const { x, y, zoom } = this.camera.peek();
    this.kept = { call, x: shown.positions.x[box]! * zoom + x, y: shown.positions.y[box]! * zoom + y };
  }

  /** Moves as little as needed for the call's card to be in view. */
  reveal(call: number | null): void {
    const shown = this.shown.peek();
    const box = call === null ? -1 : shown?.picture.boxOf[call] ?? -1;
    if (shown == null || box < 0) return;
    const { x, y, zoom } = this.camera.peek();
    const { width, height } = this.view.peek();
    const shift = (low: number, size: number, from: number, to: number): number => {
      if (low + size > to) return Math.max(from - low, to - low - size);
      return low < from ? from - low : 0;
    };
    const dx = shift(shown.positions.x[box]! * zoom + x, shown.positions.width[box]! * zoom, 16, width - 16);
    const dy = shift(shown.positions.y[box]! * zoom + y, shown.positions.height[box]! * zoom, ABOVE + 8, height - BELOW);
    if (Math.abs(dx) > 0.5 || Math.abs(dy) > 0.5) this.move({ x: x + dx, y: y + dy, zoom });
  }

  /** Shows a call's card or frame as large as it fits. */
  approach(call: number): void {
    const shown = this.shown.peek();
    const box = shown?.picture.boxOf[call] ?? -1;
    if (shown == null || box < 0) return;
    const { width, height } = this.view.peek();
    const at = shown.positions;
    const zoom = Math.min(1.5, (width - 48) / at.width[box]!, (height - ABOVE - BELOW - 16) / at.height[box]!);
    this.touched = true;
    this.move({ zoom, x: (width - at.width[box]! * zoom) / 2 - at.x[box]! * zoom, y: ABOVE + 8 - at.y[box]! * zoom });
  }

  centre(x: number, y: number): void {
    const { width, height } = this.view.peek();
    const { zoom } = this.camera.peek();
    this.touched = true;
    this.move({ zoom, x: width / 2 - x * zoom, y: height / 2 - y * zoom });
  }

  zoomBy(factor: number): void {
    const { width, height } = this.view.peek();
    this.touched = true;
    this.move(zoomAround(this.camera.peek(), factor, width / 2, height / 2));
  }

  private relay(): void {
    const wanted = this.wanted!;
    this.client.request(wanted.picture.boxes, wanted.picture.edges, { room: this.room }, (positions) => {
      if (this.wanted === wanted) this.settle(positions);
    });
  }

  private settle(positions: Positions): void {
    const { tree, picture } = this.wanted!;
    this.shown.value = { tree, picture, positions };
    const box = this.kept === null ? -1 : picture.boxOf[this.kept.call] ?? -1;
    const { zoom, x, y } = this.camera.peek();
    if (this.kept !== null && box >= 0) this.move({ zoom, x: this.kept.x - positions.x[box]! * zoom, y: this.kept.y - positions.y[box]! * zoom });
    else this.move({ zoom, x, y });
    this.kept = null;
  }

  /** One transform per frame, however many events ask for one. */
  private move(camera: Camera): void {
    const extent = this.shown.peek()?.positions.extent;
    this.camera.value = extent === undefined ? camera : held(camera, extent, this.view.peek());
    this.cull();
    if (this.frame === 0) {
      this.frame = requestAnimationFrame(() => {
        this.frame = 0;
        this.paint();
      });
    }
    if (!this.svg?.hasAttribute("data-zoom")) this.paint();
  }

  /**
   * The drawing is as large as the drawn part and moved as a whole: while the view stays within it, panning costs no drawing at all.
   * Whole pixels, because a layer moved by fractions blurs its text.
   */
  private paint(): void {
    const { x, y, zoom } = this.camera.peek();
    const { left, top, right, bottom } = this.window.peek();
    const svg = this.svg;
    if (svg === null) return;
    const drawn = `translate(${(-left * zoom).toFixed(2)} ${(-top * zoom).toFixed(2)}) scale(${zoom.toFixed(5)})`;
    if (drawn !== this.drawn) {
      this.drawn = drawn;
      this.world?.setAttribute("transform", drawn);
      svg.style.width = `${Math.ceil((right - left) * zoom)}px`;
      svg.style.height = `${Math.ceil((bottom - top) * zoom)}px`;
      svg.setAttribute("data-zoom", zoom.toFixed(3));
    }
    svg.style.transform = `translate(${Math.round(left * zoom + x)}px, ${Math.round(top * zoom + y)}px)`;
  }

  private cull(): void {
    const { x, y, zoom } = this.camera.peek();
    const { width, height } = this.view.peek();
    const now = { left: -x / zoom, top: -y / zoom, right: (width - x) / zoom, bottom: (height - y) / zoom };
    const drawn = this.window.peek();
    const inside = now.left >= drawn.left && now.top >= drawn.top && now.right <= drawn.right && now.bottom <= drawn.bottom;
    const tooLarge = (drawn.right - drawn.left) * zoom > 4 * width;
    if (inside && !tooLarge) return;
    const [mx, my] = [(now.right - now.left) / 2, (now.bottom - now.top) / 2];
    this.window.value = { left: now.left - mx, top: now.top - my, right: now.right + mx, bottom: now.bottom + my };
  }
}
