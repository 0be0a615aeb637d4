/** What the left side of a journey shows: the sample as people see it, the prediction, and Grad-CAM over the sample. */
import type { Rgb } from "../colour/tables";
import { parseHex } from "../colour/tables";
import { heldTensor, type Held } from "../exact";
import { reach } from "../maps/planes";
import { storeOf } from "../maps/store";
import { isImage } from "../maps/asPicture";
import { canvasOf, fetchPicture, inputImage, isPictured, pictureOf } from "../maps/thumbnails";
import { firstAxes, makeView } from "../maps/view";
import { paintMap, type MapColours } from "../colour/mapPixels";
import { words } from "../strings";
import { fetchValue, type CallWindow } from "../valuesApi";
import { gradCam, normalised } from "./gradcam";
import type { ModelOutput } from "./outputs";
import { labelsOf, ofOneUnit, topClasses, type Prediction } from "./predictions";

/** An input as a picture, the one that is asked for where it has numbers; null where there is none. */
export async function samplePicture(held: Held, sample: number, colours: MapColours, wanted: string): Promise<{ canvas: HTMLCanvasElement; path: string; isPicture: boolean } | null> {
  const inputs = held.graph.calls.flatMap((call) => (call.kind === "input" ? [call.path] : []));
  const found = inputs.map((path) => ({ path, tensor: heldTensor(held, path, "output", 0) })).filter(({ tensor }) => tensor !== null);
  found.sort((a, b) => Number(b.path === wanted) - Number(a.path === wanted));
  const pictured = found.slice(0, 1).find(({ tensor }) => isPictured(held, tensor!));
  if (pictured) {
    return { canvas: pictureOf(await fetchPicture(held, sample)), path: pictured.path, isPicture: true };
  }
  const { path, tensor } = found[0] ?? {};
  if (!path || !tensor) return null;
  const view = makeView(tensor.value.shape, firstAxes(tensor.value.shape, sample, tensor.channels), tensor.channels);
  if (isImage(held, tensor)) return { canvas: await inputImage(held, tensor, sample), path, isPicture: false };
  const store = storeOf(tensor.place, view);
  const [first] = await store.whole();
  if (!first) return null;
  return { canvas: canvasOf(view.cols, view.rows, (pixels) => paintMap(pixels, first.values, reach([first]), colours)), path, isPicture: false };
}

/** The part of the picture of an input that a later number saw, as shares of it; null where it saw none. */
export function seenOf(held: Held, path: string, windows: ReadonlyMap<string, CallWindow>): [number, number, number, number] | null {
  const tensor = heldTensor(held, path, "output", 0);
  const box = tensor && windows.get(`${tensor.call} ${tensor.port}`)?.box;
  if (!tensor || !box || box.length !== (tensor.channels === "none" ? 3 : 4)) return null;
  const [rows, cols] = tensor.channels === "first" ? [2, 3] : [1, 2];
  const [height, width] = [tensor.value.shape[rows]!, tensor.value.shape[cols]!];
  const [[top, bottom], [left, right]] = [box[rows]!, box[cols]!];
  return [left / width, top / height, (right - left) / width, (bottom - top) / height];
}

/** One output of the model, its largest numbers first, and its label, if there is one. */
export async function predictionOf(held: Held, sample: number, { root, port, tensor }: ModelOutput): Promise<Prediction[]> {
  const label = held.arrays.has(`label ${root} ${port}`) ? { ...tensor.place, path: held.graph.calls[root]!.path, kind: "label", port } : null;
  const [{ values }, right] = await Promise.all([
    fetchValue(tensor.place, String(sample)),
    label && fetchValue(label, String(sample)),
  ]);
  const names = held.graph.class_names;
  // Names that are not as many as the classes are those of another output.
  if (values.length > 1) return topClasses(values, names.length === values.length ? names : [], right && labelsOf(right.values, values.length));
  return ofOneUnit(Number(values[0]), right?.values.length === 1 ? Number(right.values[0]) : null, names, words.exact.journey);
}

/** Grad-CAM at one call as a veil over the sample; null where the call's output or error lacks maps. */
export async function camOf(held: Held, path: string, sample: number, dark: boolean): Promise<{ canvas: HTMLCanvasElement; isZero: boolean } | null> {
  const [maps, errors] = await Promise.all(["output", "error"].map(async (kind) => {
    const tensor = heldTensor(held, path, kind, 0);
    if (!tensor || tensor.value.shape.length !== 4) return null;
    const view = makeView(tensor.value.shape, firstAxes(tensor.value.shape, sample, tensor.channels), tensor.channels);
    if (view.wrapped) return null;
    return { view, planes: await storeOf(tensor.place, view).whole() };
  }));
  if (!maps || !errors || [...maps.planes, ...errors.planes].some((plane) => !plane)) return null;
  const map = normalised(gradCam(maps.planes.map((plane) => plane!.values), errors.planes.map((plane) => plane!.values)));
  const [red, green, blue]: Rgb = parseHex(dark ? "#ffb02e" : "#e8590c");
  const canvas = canvasOf(maps.view.cols, maps.view.rows, (pixels) => map.forEach((value, i) => {
    pixels[i] = ((Math.round(225 * value) << 24) | (blue << 16) | (green << 8) | red) >>> 0;
  }));
  return { canvas, isZero: map.every((value) => value === 0) };
}

