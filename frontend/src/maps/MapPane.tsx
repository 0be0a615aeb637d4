/** The maps of one tensor with their slice box, colour scale, readout and downloads. The switches above it are its owner's. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { ENTRIES } from "../colour/tables";
import type { Held, HeldTensor } from "../exact";
import { exponent, number } from "../format";
import { valuePython } from "../inspector/python";
import { lens, mapZoom, namedKind, panel, pointed, run, stream, windows } from "../state";
import { statusSentence, words } from "../strings";
import { WEIGHT_KINDS } from "../values";
import { fetchValue } from "../valuesApi";
import { download, fileName } from "./download";
import { Grid } from "./Grid";
import { Downloads, SliceBox } from "./MapTools";
import { toNpy } from "./npy";
import { Readout } from "./Readout";
import { slicesParameter } from "./slices";
import { inputImage } from "./thumbnails";
import { useTensor, type Maps } from "./useTensor";
import { thinned } from "./view";

interface MapPaneProps {
  held: Held;
  path: string;
  kind: string;
  port: number;
  /** The edge of a map before zooming. */
  edge: number;
  /** The pane has a height of its own, which the maps may fill. */
  tall?: boolean;
  /** Several stand side by side, and what can be done need not be said in each. */
  terse?: boolean;
}

export function MapPane(props: MapPaneProps) {
  const { held, path, kind, port } = props;
  const [typedFor, setTyped] = useState({ key: "", text: "" });
  const key = JSON.stringify([path, kind, port]);
  const typed = typedFor.key === key ? typedFor.text : "";
  const maps = useTensor(held, path, kind, port, typed);
  const kept = useRef<{ key: string; maps: Maps } | null>(null);
  if (typeof maps !== "string") kept.current = { key, maps };
  // A slip in the slice box leaves the picture as it was.
  const shown = typeof maps === "string" ? (typed && kept.current?.key === key ? kept.current.maps : null) : maps;
  if (!shown) return <p class="sentence">{statusSentence(typeof maps === "string" ? maps : "")}</p>;
  return <Shown {...props} maps={shown} typed={typed} problem={typeof maps === "string" ? maps : ""} onType={(text) => setTyped({ key, text })} />;
}

/** What stands above and below the maps of a pane, in pixels. */
const AROUND = 190;
const AS_SEEN = 102;

function Shown({ held, path, kind, edge, tall, terse, maps, typed, problem, onType }: MapPaneProps & { maps: Maps; typed: string; problem: string; onType(text: string): void }) {
  const { tensor, view, store, order, reachOf, given, colours, picture } = maps;
  const isColoured = picture !== null && view.shape[3] === 3;
  const room = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState<[number, number]>([0, 0]);
  const [fill, setFill] = useState<number>();
  useLayoutEffect(() => {
    if (!tall) return;
    const observer = new ResizeObserver(([entry]) => setFill(Math.max(1, Math.floor(entry!.contentRect.height) - AROUND)));
    observer.observe(room.current!);
    return () => observer.disconnect();
  }, [tall]);
  // What later numbers saw, and how one came about, is known of outputs only.
  const isWeight = WEIGHT_KINDS.has(kind);
  const [spot, setSpot] = useState<number[] | null>(null);
  const owner = isWeight ? path : held.graph.calls[tensor.call]!.path;
  const here = (at: typeof pointed.value) => (at && !isWeight && at.path === owner && at.port === tensor.port ? at.index : null);
  const place = (index: number[]) => ({ path: owner, port: tensor.port, index });
  const window = windows.value.get(`${tensor.call} ${tensor.port}`)?.box ?? null;
  const at = isWeight ? spot : (here(pointed.value) ?? here(lens.value));
  const python = valuePython(run.value, stream.value, owner, tensor.value.kind, tensor.port, held.step, maps.text);
  const saveNpy = async () => {
    const answer = await fetchValue(tensor.place, slicesParameter(given, view.shape));
    const shape = answer.shape.filter((_, axis) => !given[axis]!.single);
    download(`${fileName(owner, kind, tensor.port, "step", held.step)}.npy`, new Blob([toNpy(answer.values, shape, answer.dtype)]));
  };
  const savePng = () => room.current?.querySelector("canvas")?.toBlob((blob) => blob && download(`${fileName(owner, kind, tensor.port, "step", held.step)}.png`, blob));
  const isThin = thinned(view, given);
  const anyDead = useMemo(() => [...store.all()].some(({ dead }) => dead), [store, store.version.value]);
  return (
    <div class="map-pane" ref={room}>
      <div class="tools wrap">
        <SliceBox text={maps.text} typed={typed} problem={problem} onType={onType} />
        <Downloads onNpy={() => void saveNpy()} onPng={savePng} python={python} />
      </div>
      {view.shape.length > 4 && !isWeight && !typed && <Depth maps={maps} onType={onType} />}
      {isColoured && <AsSeen held={held} tensor={tensor} sample={given[0]!.start} />}
      <Grid
        store={store} order={order} edge={edge} zoom={1.4 ** mapZoom.value} fill={fill && fill - (isColoured ? AS_SEEN : 0)} reachOf={reachOf} colours={colours} name={`${path} ${words.exact.kinds[kind] ?? namedKind(kind)}`}
        window={at || isWeight ? null : window} marked={here(lens.value)} pointed={isWeight ? spot : here(pointed.value)} tensor={`${kind} ${path}`}
        across={isWeight && view.planeAxes.length > 1 ? view.axes[view.planeAxes.at(-1)!]!.length : undefined}
        onPoint={(index) => (isWeight ? setSpot(index) : (pointed.value = index && place(index)))}
        onChoose={(index) => { if (!isWeight) { lens.value = place(index); panel.value = "values"; } }}
        // Compared with the newest, not with that of this drawing: two draws may come before the next.
        onSeen={(first, last) => setSeen((old) => (old[0] === first && old[1] === last ? old : [first, last]))}
      />
      <Ramp maps={maps} />
      {isWeight && <p class="quiet note">{words.exact.axes(view.rowAxis, view.colAxis, view.wrapped ? [] : view.planeAxes.filter((axis) => view.shape[axis]! > 1))}</p>}
      {owner !== path && <p class="quiet note">{words.exact.from(owner)}</p>}
      {view.count > 1 && seen[1] > 0 && seen[1] - seen[0] < view.count && <p class="quiet note">{words.exact.maps(seen[0], seen[1] - 1, view.count)}</p>}
      {anyDead && <p class="quiet note absent-key"><i /> {words.exact.dead}</p>}
      {isThin && <p class="sentence">{words.exact.thinned(view.axes[view.rowAxis]!.step, view.axes[view.colAxis]!.step)}</p>}
      {store.problem.value && <p class="sentence bad">{store.problem.value}</p>}
      <Readout store={store} index={at} dtype={tensor.value.dtype} reachOf={reachOf} colours={colours} hint={terse ? "" : isWeight ? words.exact.point : `${words.exact.point} ${words.exact.pointLens}`} />
    </div>
  );
}

/** The picture whose channels the maps are. */
function AsSeen({ held, tensor, sample }: { held: Held; tensor: HeldTensor; sample: number }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let isCurrent = true;
    inputImage(held, tensor, sample).then((canvas) => isCurrent && place.current!.replaceChildren(canvas), () => undefined);
    return () => { isCurrent = false; };
  }, [held, tensor, sample]);
  return <div class="as-seen" ref={place} role="img" aria-label={words.exact.picture} title={words.exact.picture} />;
}

/** The scale: of one map's own range there are no ends to name until a map is pointed at. */
function Ramp({ maps }: { maps: Maps }) {
  const { css } = maps.colours;
  const first = maps.picture?.[0] === 0 ? ENTRIES / 2 : 0;
  const stops = Array.from({ length: 17 }, (_, i) => css[Math.round(first + (i / 16) * (ENTRIES - 1 - first))]!);
  const reach = maps.reachOf({ low: NaN, high: NaN });
  const end = (value: number) => (!(Math.abs(value) > 0) ? "" : Math.abs(value) >= 1e-2 && Math.abs(value) < 1e3 ? number(value, 3) : exponent(value));
  return (
    <div class="map-ramp mono">
      <span>{first ? "0" : end(-reach) || "−"}</span>
      <i style={{ background: `linear-gradient(to right, ${stops.join(", ")})` }} />
      <span>{end(reach) ? `+${end(reach)}` : "+"}</span>
    </div>
  );
}

/** Of a volume, one slider for each axis that is cut. */
function Depth({ maps, onType }: { maps: Maps; onType(text: string): void }) {
  const cut = maps.given.map((axis, i) => ({ axis, i })).filter(({ axis, i }) => i > 0 && axis.single);
  return (
    <div class="tools wrap">
      {cut.map(({ axis, i }) => (
        <label class="quiet nowrap" key={i}>
          {`axis ${i} `}
          <input
            type="range" min={0} max={maps.view.shape[i]! - 1} value={axis.start}
            onInput={(event) => onType(maps.text.slice(1, -1).split(", ").map((part, each) => (each === i ? event.currentTarget.value : part)).join(", "))}
          />{" "}
          <span class="mono">{axis.start}</span>
        </label>
      ))}
    </div>
  );
}
