/** The maps of one tensor: its view, its planes, their order and the reach of their colours. */
import { useEffect, useMemo, useState } from "preact/hooks";
import { heldTensor, whyNot, type Held, type HeldTensor } from "../exact";
import { mapOrder, mapRange, sample } from "../state";
import { WEIGHT_KINDS } from "../values";
import { fetchValue } from "../valuesApi";
import type { MapColours } from "../colour/mapPixels";
import { greys, pictureRange } from "./asPicture";
import { useFigures } from "./figures";
import { mapPalette } from "./palette";
import { activityOfFigures, byActivity, reach, type Plane } from "./planes";
import { layerReach, modelReach } from "./range";
import { parseSlices, SliceError, slicesText, whole, type Axis } from "./slices";
import { storeOf, type PlaneStore } from "./store";
import { channelAxis, firstAxes, makeView, type MapView } from "./view";

export interface Maps {
  tensor: HeldTensor;
  given: Axis[];
  /** What the slice box says. */
  text: string;
  view: MapView;
  store: PlaneStore;
  order: number[] | null;
  reachOf(plane: Pick<Plane, "low" | "high">): number;
  colours: MapColours;
  /** From black to white, where the maps are the channels of a picture. */
  picture: readonly [number, number] | null;
}

/** The maps of a tensor, or the sentence in their place. `typed` is what stands in the slice box; empty: the first view. */
export function useTensor(held: Held | null, path: string, kind: string, port: number, typed: string): Maps | string {
  const tensor = useMemo(() => (held ? heldTensor(held, path, kind, port) : null), [held, path, kind, port]);
  const at = sample.value;
  const isWeight = WEIGHT_KINDS.has(kind);
  const made = useMemo(() => {
    if (!tensor) return null;
    const { shape } = tensor.value;
    const first = isWeight ? shape.map(whole) : firstAxes(shape, at, tensor.channels);
    try {
      const given = typed ? parseSlices(typed, shape) : first;
      return { given, problem: "" };
    } catch (error) {
      if (!(error instanceof SliceError)) throw error;
      return { given: first, problem: error.message };
    }
  }, [tensor, at, typed]);
  const view = useMemo(() => (tensor && made ? makeView(tensor.value.shape, made.given, tensor.channels, isWeight) : null), [tensor, made]);
  const store = useMemo(() => (tensor && view ? storeOf(tensor.place, view) : null), [tensor, view]);
  const order = useOrder(held, tensor, view, store);
  const range = mapRange.value;
  const picture = useMemo(() => held && tensor && pictureRange(held, tensor), [held, tensor]);
  const palette = mapPalette.value;
  const colours = useMemo(() => (picture ? greys(palette, picture) : palette), [picture, palette]);
  const chosen = made?.given[0];
  const figures = useFigures(tensor && !isWeight && chosen?.length === 1 && range === "layer" ? tensor : null, chosen?.start ?? 0);
  // While a range is taken from what arrived, it grows with it.
  const arrived = store?.version.value ?? 0;
  const known = useMemo(() => {
    if (!held || !tensor || !store || range === "map") return 0;
    if (range === "layer" && picture) return picture[1];
    if (range === "layer" && figures) return figures.reach;
    return (range === "layer" ? layerReach : modelReach)(held, tensor, store.all());
  }, [held, tensor, store, range, arrived, figures, picture]);
  const reachOf = useMemo(() => (range === "map" ? (plane: Pick<Plane, "low" | "high">) => reach([plane as Plane]) : () => known), [range, known]);
  if (!held) return "";
  if (!tensor || !made || !view || !store) return whyNot(held, path, kind, port);
  if (made.problem) return made.problem;
  return { tensor, given: made.given, text: slicesText(made.given, tensor.value.shape), view, store, order, reachOf, colours, picture };
}

/** The most active first: as the figures per channel of the same record say, else as all the planes say once they are here. */
function useOrder(held: Held | null, tensor: HeldTensor | null, view: MapView | null, store: PlaneStore | null): number[] | null {
  const [found, setFound] = useState<{ store: PlaneStore; order: number[] } | null>(null);
  const wanted = mapOrder.value === "activity" && !(tensor && WEIGHT_KINDS.has(tensor.value.kind));
  useEffect(() => {
    if (!wanted || !held || !tensor || !view || !store || view.count < 2) return setFound(null);
    let isCurrent = true;
    void activityOf(held, tensor, view, store).then((activity) => isCurrent && setFound({ store, order: byActivity(activity) }));
    return () => { isCurrent = false; };
  }, [wanted, held, tensor, view, store]);
  return wanted && found && found.store === store ? found.order : null;
}

/** Above this, every plane is not fetched just to be sorted. */
const SORTED_ELEMENTS = 8 << 20;

export async function activityOf(held: Held, tensor: HeldTensor, view: MapView, store: PlaneStore): Promise<(number | null)[]> {
  if (view.count * view.size <= SORTED_ELEMENTS) return (await store.whole()).map((plane) => plane?.activity ?? null);
  const channel = channelAxis(view.shape.length, tensor.channels);
  const figures = held.arrays.get(`channels:${tensor.value.kind} ${tensor.call} ${tensor.port}`);
  const isByChannel = view.planeAxes.at(-1) === channel && tensor.channels !== "first";
  if (!figures || !isByChannel) return Array<null>(view.count).fill(null);
  const { values } = await fetchValue({ ...tensor.place, kind: `channels:${tensor.value.kind}` }, ":");
  const all = activityOfFigures(values);
  const { start, step, length } = view.axes[channel]!;
  return Array.from({ length: view.count }, (_, plane) => all[start + (plane % length) * step] ?? null);
}
