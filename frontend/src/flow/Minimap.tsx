/** The whole picture, small, with the part in view: shown when that is not all. Knows only rectangles. */

import { useMemo, useRef } from "preact/hooks";
import type { ReadonlySignal } from "@preact/signals";
import { words } from "../strings";
import type { Positions } from "./layout";
import type { Camera } from "./panzoom";
import type { Picture } from "./picture";

const WIDTH = 168;
const HEIGHT = 118;

export interface MinimapProps {
  picture: Picture;
  positions: Positions;
  camera: ReadonlySignal<Camera>;
  view: ReadonlySignal<{ width: number; height: number }>;
  /** Brings this point of the picture to the middle of the view. */
  goTo: (x: number, y: number) => void;
}

export function Minimap({ picture, positions, camera, view, goTo }: MinimapProps) {
  const { width, height } = positions.extent;
  const scale = Math.min(WIDTH / width, HEIGHT / height);
  const [w, h] = [Math.max(24, width * scale), Math.max(16, height * scale)];
  const shapes = useMemo(() => outlines(picture, positions), [picture, positions]);
  const held = useRef(false);
  const { x, y, zoom } = camera.value;
  const room = view.value;
  const whole = width * zoom <= room.width + 1 && height * zoom <= room.height + 1 && x >= -1 && y >= -1;
  if (whole) return null;
  const go = (event: PointerEvent): void => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    goTo((event.clientX - box.left) / scale, (event.clientY - box.top) / scale);
  };
  return (
    <svg
      class="minimap" data-control width={w} height={h} viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={words.flow.minimap}
      onPointerDown={(event) => { held.current = true; event.currentTarget.setPointerCapture(event.pointerId); go(event); }}
      onPointerMove={(event) => { if (held.current) go(event); }}
      onPointerUp={() => { held.current = false; }}
    >
      <path class="frames" d={shapes.frames} stroke-width={1 / scale} />
      <path class="cards" d={shapes.cards} />
      <rect
        class="window" x={Math.max(0, -x / zoom)} y={Math.max(0, -y / zoom)} vector-effect="non-scaling-stroke"
        width={Math.max(0, Math.min(width, (room.width - x) / zoom) - Math.max(0, -x / zoom))}
        height={Math.max(0, Math.min(height, (room.height - y) / zoom) - Math.max(0, -y / zoom))}
      />
    </svg>
  );
}

function outlines(picture: Picture, at: Positions): { cards: string; frames: string } {
  const shapes = { cards: "", frames: "" };
  picture.cards.forEach((card, box) => {
    const d = `M${Math.round(at.x[box]!)} ${Math.round(at.y[box]!)}h${Math.round(at.width[box]!)}v${Math.round(at.height[box]!)}h${-Math.round(at.width[box]!)}z`;
    if (card.frame) shapes.frames += d;
    else shapes.cards += d;
  });
  return shapes;
}
