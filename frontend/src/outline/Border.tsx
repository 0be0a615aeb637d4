/** The outline's border: a drag sets its width, and a drag far to the right widens the strip into the heatmap. */
import { heatmap, outlineWidth } from "../state";
import { words } from "../strings";

const LEAST = 220;
const MOST = 520;
/** A drag beyond this many pixels past the widest outline asks for the heatmap. */
const BEYOND = 80;

export function Border() {
  const onPointerDown = (event: PointerEvent) => {
    const grip = event.currentTarget as HTMLElement;
    grip.setPointerCapture(event.pointerId);
    const start = event.clientX - outlineWidth.peek();
    const move = (moved: PointerEvent) => {
      const wanted = moved.clientX - start;
      outlineWidth.value = Math.min(MOST, Math.max(LEAST, wanted));
      if (wanted > MOST + BEYOND) {
        heatmap.value = true;
        stop();
      }
    };
    const stop = () => {
      grip.removeEventListener("pointermove", move);
      grip.removeEventListener("pointerup", stop);
      grip.removeEventListener("pointercancel", stop);
    };
    grip.addEventListener("pointermove", move);
    grip.addEventListener("pointerup", stop);
    grip.addEventListener("pointercancel", stop);
    event.preventDefault();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const move = { ArrowLeft: -16, ArrowRight: 16 }[event.key];
    if (!move) return;
    outlineWidth.value = Math.min(MOST, Math.max(LEAST, outlineWidth.value + move));
    event.preventDefault();
  };
  return (
    <div
      class="border-grip"
      role="separator"
      aria-orientation="vertical"
      aria-label={words.outline.border}
      aria-valuemin={LEAST}
      aria-valuemax={MOST}
      aria-valuenow={outlineWidth.value}
      tabIndex={0}
      onPointerDown={onPointerDown}
      onKeyDown={onKeyDown}
    />
  );
}
