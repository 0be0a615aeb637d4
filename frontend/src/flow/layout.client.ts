/** Asks the worker for a layout, or does it here where no worker can start. Answers that were overtaken are dropped. */

import { layout, type Box, type LayoutOptions, type Link, type Positions } from "./layout";
import type { LayoutAnswer, LayoutRequest } from "./layout.worker";

/** Up to this many boxes a layout takes less time than the way to the worker and back would be felt. */
export const DIRECT = 300;

type Done = (positions: Positions) => void;

export class LayoutClient {
  private worker: Worker | null = null;
  private broken = typeof Worker === "undefined";
  private ticket = 0;
  private waiting: { request: LayoutRequest; done: Done } | null = null;

  /** Calls `done` at once for small graphs, later for large ones, never for a request that a newer one overtook. */
  request(boxes: Box[], links: Link[], options: LayoutOptions, done: Done): void {
    const request: LayoutRequest = { ticket: ++this.ticket, boxes, links: links.map(({ from, to }) => ({ from, to })), options };
    this.waiting = { request, done };
    const worker = boxes.length > DIRECT ? this.start() : null;
    if (worker === null) this.answerHere();
    else worker.postMessage(request);
  }

  close(): void {
    this.waiting = null;
    this.worker?.terminate();
    this.worker = null;
  }

  private start(): Worker | null {
    if (this.broken || this.worker !== null) return this.worker;
    try {
      this.worker = new Worker(new URL("./layout.worker.js", import.meta.url), { type: "module" });
    } catch {
      this.broken = true;
      return null;
    }
    this.worker.onmessage = ({ data }: MessageEvent<LayoutAnswer>) => {
      if (data.ticket !== this.ticket || this.waiting === null) return;
      if (data.positions === null) this.answerHere();
      else this.settle(data.positions);
    };
    // A policy that forbids workers shows only now; the request is still waiting.
    this.worker.onerror = () => {
      this.broken = true;
      this.worker = null;
      this.answerHere();
    };
    return this.worker;
  }

  private answerHere(): void {
    if (this.waiting === null) return;
    const { boxes, links, options } = this.waiting.request;
    this.settle(layout(boxes, links, options));
  }

  private settle(positions: Positions): void {
    const done = this.waiting?.done;
    this.waiting = null;
    done?.(positions);
  }
}
