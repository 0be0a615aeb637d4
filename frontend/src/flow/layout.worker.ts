/** The layout off the main thread: a request with a number in, the same number with positions out. */

import { layout, type Box, type LayoutOptions, type Link, type Positions } from "./layout";

export interface LayoutRequest {
  ticket: number;
  boxes: Box[];
  links: Link[];
  options: LayoutOptions;
}

export interface LayoutAnswer {
  ticket: number;
  positions: Positions | null;
}

const port = self as unknown as { onmessage: ((event: MessageEvent<LayoutRequest>) => void) | null; postMessage(answer: LayoutAnswer): void };

port.onmessage = ({ data }) => {
  let positions: Positions | null = null;
  try {
    positions = layout(data.boxes, data.links, data.options);
  } catch {
    // The page lays it out itself then, and meets the same error where it can be seen.
  }
  port.postMessage({ ticket: data.ticket, positions });
};
