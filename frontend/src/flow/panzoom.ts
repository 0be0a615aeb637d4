/** The camera over the picture: drag, wheel, pinch and keys move it. Knows no cards; writes one transform per frame. */

export interface Camera {
  /** Screen position of the picture's origin, and screen pixels per unit. */
  x: number;
  y: number;
  zoom: number;
}

export const LEAST_ZOOM = 0.04;
export const MOST_ZOOM = 4;
/** A press that moved no further than this is a click. */
const CLICK = 4;

export function zoomAround(camera: Camera, factor: number, x: number, y: number): Camera {
  const zoom = Math.min(MOST_ZOOM, Math.max(LEAST_ZOOM, camera.zoom * factor));
  const by = zoom / camera.zoom;
  return { x: x - (x - camera.x) * by, y: y - (y - camera.y) * by, zoom };
}

/** Keeps at least a corner of the picture within the view. */
export function held(camera: Camera, extent: { width: number; height: number }, view: { width: number; height: number }): Camera {
  const keep = 80;
  const clamp = (at: number, size: number, room: number): number => Math.min(room - keep, Math.max(keep - size * camera.zoom, at));
  return { ...camera, x: clamp(camera.x, extent.width, view.width), y: clamp(camera.y, extent.height, view.height) };
}

export interface Gestures {
  camera(): Camera;
  move(camera: Camera): void;
  /** A drag has begun: what follows is no click. */
  dragging(active: boolean): void;
}

/** Listens on the element until the returned function is called. */
export function listen(element: Element, gestures: Gestures): () => void {
  const pressed = new Map<number, { x: number; y: number }>();
  let moved = false;
  const local = (event: { clientX: number; clientY: number }): { x: number; y: number } => {
    const box = element.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const down = (event: PointerEvent): void => {
    if (event.button !== 0 || (event.target as Element).closest("[data-control]") !== null) return;
    if (pressed.size === 0) moved = false;
    pressed.set(event.pointerId, local(event));
  };
  const drag = (event: PointerEvent): void => {
    const last = pressed.get(event.pointerId);
    if (last === undefined) return;
    const at = local(event);
    if (!moved && Math.hypot(at.x - last.x, at.y - last.y) < CLICK) return;
    if (!moved) {
      moved = true;
      element.setPointerCapture(event.pointerId);
      gestures.dragging(true);
    }
    const camera = gestures.camera();
    const other = [...pressed].find(([id]) => id !== event.pointerId)?.[1];
    pressed.set(event.pointerId, at);
    if (other === undefined) gestures.move({ ...camera, x: camera.x + at.x - last.x, y: camera.y + at.y - last.y });
    else {
      const factor = Math.hypot(at.x - other.x, at.y - other.y) / Math.max(1, Math.hypot(last.x - other.x, last.y - other.y));
      gestures.move(zoomAround(camera, factor, (at.x + other.x) / 2, (at.y + other.y) / 2));
    }
  };
  const up = (event: PointerEvent): void => {
    pressed.delete(event.pointerId);
    // The click that ends a drag comes after this event.
    if (pressed.size === 0 && moved) setTimeout(() => gestures.dragging(false));
  };
  const wheel = (event: WheelEvent): void => {
    event.preventDefault();
    const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
    const camera = gestures.camera();
    const at = local(event);
    if (event.ctrlKey || event.metaKey) return gestures.move(zoomAround(camera, Math.exp((-event.deltaY * unit) / 240), at.x, at.y));
    const [dx, dy] = event.shiftKey && event.deltaX === 0 ? [event.deltaY, 0] : [event.deltaX, event.deltaY];
    gestures.move({ ...camera, x: camera.x - dx * unit, y: camera.y - dy * unit });
  };
  const listeners: [string, EventListener, AddEventListenerOptions?][] = [
    ["pointerdown", down as EventListener], ["pointermove", drag as EventListener], ["pointerup", up as EventListener],
    ["pointercancel", up as EventListener], ["wheel", wheel as EventListener, { passive: false }],
  ];
  for (const [type, listener, options] of listeners) element.addEventListener(type, listener, options);
  return () => listeners.forEach(([type, listener]) => element.removeEventListener(type, listener));
}
