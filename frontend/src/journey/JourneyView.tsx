/** The centre's second view: one sample from input to prediction, stage by stage, or one call over the steps; playable and filmed. */
import { effect, signal, useComputed, useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Segment } from "../bar/TopBar";
import { firstWithValues } from "../maps/first";
import { PaintedPlanes, sized } from "../maps/draw";
import { download, fileName } from "../maps/download";
import { SamplePicker } from "../maps/MapTools";
import { mapPalette } from "../maps/palette";
import { thumbnails } from "../maps/shown";
import { Thumbnails } from "../maps/thumbnails";
import { displayName } from "../flow/cardview";
import { Stamp } from "../inspector/Values";
import { choose, folds, tree } from "../selection";
import { awake, callIndex, chosen, dark, graph, held, noValues, run, sample, valueSteps, windows } from "../state";
import { words } from "../strings";
import type { Held } from "../exact";
import { frameOf, framesOf, leadsTo, originOf, type Frame } from "./frames";
import { HeldSteps, stageOf, stageWithout, stepFacts, stepTitle } from "./frameSource";
import { outputsOf } from "./outputs";
import { startRecording, type Recording } from "./record";
import { camOf, predictionOf, samplePicture, seenOf } from "./sample";
import { drawScene, type SceneOutput } from "./scene";

const said = words.exact.journey;
const FRAME_MS = 900;

export function JourneyView() {
  const at = held.value;
  if (!at || !tree.value || !folds.value) return <div class="journey"><p class="sentence">{noValues.value || words.exact.loading}</p></div>;
  return <Shown held={at} />;
}

function Shown({ held: at }: { held: Held }) {
  const [mode, setMode] = useState("model");
  const [every, setEvery] = useState(false);
  const [cam, setCam] = useState(false);
  const [recording, setRecording] = useState<Recording | null>(null);
  const place = useSignal(0);
  const playing = useSignal(false);
  const canvas = useRef<HTMLCanvasElement>(null);
  const root = useRef<HTMLDivElement>(null);
  const room = useSignal({ width: 0, height: 0 });
  const painted = useMemo(() => new PaintedPlanes(), []);
  const drawn = useRef<SceneOutput | null>(null);
  const arrived = useMemo(() => signal(0), []);
  const shownSample = Math.min(sample.value, Math.max(0, at.info.samples - 1));

  const frames = useMemo(() => framesOf(tree.value!, folds.value!, at, every), [tree.value, folds.value, at, every]);
  const overSteps = useMemo(() => new HeldSteps(at, () => arrived.value++), [at.run, at.stream]);
  const stepThumbnails = useMemo(() => new Map<number, Thumbnails>(), [at.run, at.stream, shownSample, dark.value]);
  const followed = graph.value!.calls[chosen.value ?? firstWithValues(at, graph.value!)]?.path ?? "";
  const steps = valueSteps.value;
  const isModel = mode === "model";
  const length = isModel ? frames.length : steps.length;
  const current = Math.min(place.value, length - 1);

  // The input that the frame came from: of several, each branch shows its own.
  const followedFrame = Math.max(0, isModel ? current : frameOf(tree.value!, frames, callIndex.value.get(followed) ?? -1));
  const origin = frames.length ? frames[originOf(frames, followedFrame)]!.path : "";
  const picture = useFetched(() => samplePicture(at, shownSample, mapPalette.value, origin), [at, shownSample, mapPalette.value, origin]);
  const outputs = useMemo(() => outputsOf(at), [at]);
  const output = outputs[Math.max(0, leadsTo(frames, followedFrame, outputs.map(({ made }) => callIndex.value.get(made) ?? -1)))];
  const predictions = useFetched(() => (output ? predictionOf(at, shownSample, output) : Promise.resolve([])), [at, shownSample, output]) ?? [];
  const predictionTitle = output && outputs.length > 1 ? said.predictionOf(output.name) : said.prediction;
  const camPath = frames[isModel ? current : -1]?.path ?? "";
  const veil = useFetched(() => (cam && isModel && camPath ? camOf(at, camPath, shownSample, dark.value) : Promise.resolve(null)), [at, cam, isModel, camPath, shownSample, dark.value]);

  // A call chosen elsewhere moves the journey to its stage, and the other way round.
  const wanted = useComputed(() => chosen.value);
  useEffect(() => {
    const found = isModel && wanted.value !== null ? frameOf(tree.value!, frames, wanted.value) : -1;
    if (found >= 0) place.value = found;
  }, [wanted.value, frames, isModel]);

  useLayoutEffect(() => {
    const box = canvas.current!.parentElement!;
    const measure = () => (room.value = { width: box.clientWidth, height: box.clientHeight });
    const observer = new ResizeObserver(measure);
    observer.observe(box);
    measure();
    root.current!.focus({ preventScroll: true });
    return () => observer.disconnect();
  }, []);

  const stageAt = (index: number) => {
    if (isModel) {
      const frame = frames[index]!;
      const from = frame.from.length ? [`${said.from} ${frame.from.map((each) => lastName(frames[each]!)).join(" + ")}`] : [];
      return stageOf(at, frame.path, shownSample, titleOf(frame), [`${said.stage(index + 1, length)}`, frame.type, ...from]);
    }
    const record = overSteps.get(steps[index]!);
    const facts = [said.stage(index + 1, length), ...(record ? stepFacts(record) : [])];
    const title = stepTitle(followed, steps[index]!);
    return record ? stageOf(record, followed, shownSample, title, facts) : stageWithout(title, facts, words.exact.loading);
  };
  const thumbnailsAt = (index: number): Thumbnails | null => {
    if (isModel) return thumbnails.value;
    const step = steps[index]!;
    const record = overSteps.get(step);
    if (record && !stepThumbnails.has(step)) stepThumbnails.set(step, new Thumbnails(record, shownSample, mapPalette.value, false));
    return stepThumbnails.get(step) ?? null;
  };

  useEffect(() => effect(() => {
    const { width, height } = room.value;
    if (!width || !length || !canvas.current) return;
    arrived.value;
    const index = Math.min(place.value, length - 1);
    const stage = stageAt(index);
    stage.store?.version.value;
    const tokens = getComputedStyle(document.documentElement);
    const pen = sized(canvas.current, width, height);
    drawn.current = drawScene(pen, {
      width, height, colours: mapPalette.value, ink: tokens.getPropertyValue("--ink"), quiet: tokens.getPropertyValue("--ink-3"),
      picture: picture?.canvas ?? null, pictureName: picture ? `${picture.path}${picture.isPicture ? ` · ${words.exact.picture}` : ""}` : "",
      seen: picture ? seenOf(at, picture.path, windows.value) : null, cam: veil?.canvas ?? null, camName: veil?.isZero ? said.camZero(camPath) : said.camAt(camPath), stage, painted, predictions, predictionTitle, labelName: said.label,
      strip: {
        count: length, current: index,
        from: (each) => (isModel ? frames[each]!.from : []),
        name: (each) => (isModel ? lastName(frames[each]!) : words.bar.step(steps[each]!.toLocaleString("en"))),
        draw: (each, x, y, side) => {
          const small = thumbnailsAt(each);
          const path = isModel ? frames[each]!.path : followed;
          if (!small) return;
          small.changed(path).value;
          small.draw(pen, path, x + 1, y + 1, side - 2, side - 2, 4);
        },
      },
    });
    // Told from outside what is drawn where.
    canvas.current.dataset.predictions = JSON.stringify(predictions);
    canvas.current.dataset.predicted = predictionTitle;
    canvas.current.dataset.drawn = JSON.stringify({ title: stage.title, rows: stage.store?.view.rows, cols: stage.store?.view.cols, ...drawn.current.tiles });
    if (index + 1 < length) stageAt(index + 1).store?.want(Array.from({ length: 16 }, (_, plane) => plane));
  }), [frames, mode, followed, steps, picture, predictions, veil, shownSample, at]);

  const go = (to: number) => {
    place.value = Math.max(0, Math.min(length - 1, to));
    if (isModel) choose(callIndex.value.get(frames[place.value]!.path) ?? null);
  };
  const stop = async (film: Recording) => {
    setRecording(null);
    download(`${fileName(run.value, isModel ? "journey" : followed, "step", at.step)}.webm`, await film.stop());
  };
  useEffect(() => {
    if (!playing.value) return;
    const timer = setInterval(() => {
      if (!awake.value) return;
      if (place.value < length - 1) return void place.value++;
      playing.value = false;
      if (recording) void stop(recording);
      else if (isModel) choose(callIndex.value.get(frames[place.value]!.path) ?? null);
    }, FRAME_MS);
    return () => clearInterval(timer);
  }, [playing.value, length, recording]);

  const play = () => {
    if (!playing.value && place.value >= length - 1) place.value = 0;
    playing.value = !playing.value;
  };
  const save = () => {
    if (recording) return void stop(recording).then(() => (playing.value = false));
    const film = startRecording(canvas.current!);
    if (!film) return;
    place.value = 0;
    setRecording(film);
    playing.value = true;
  };
  const key = (event: KeyboardEvent) => {
    if ((event.target as Element).closest("select, input")) return;
    if (event.key === " " && (event.target as Element).closest("button")) return;
    const keys: Record<string, () => void> = {
      ArrowLeft: () => go(current - 1), ArrowRight: () => go(current + 1), Home: () => go(0), End: () => go(length - 1), " ": play,
    };
    const act = keys[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    act();
    event.preventDefault();
    event.stopPropagation();
  };
  const pick = (event: MouseEvent) => {
    const box = canvas.current!.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    if (!drawn.current || y < drawn.current.stripTop) return;
    const found = drawn.current.places.find((each) => x >= each.x && x < each.x + each.width);
    if (found) go(found.place);
  };
  const path = isModel ? (frames[current]?.path ?? "") : followed;
  return (
    <div class="journey" ref={root} tabIndex={-1} onKeyDown={key} aria-label={said.title} data-path={path} data-frame={current} data-frames={length} data-paths={isModel ? frames.map((frame) => frame.path).join(" ") : ""}>
      <div class="tools wrap">
        <span class="stepper">
          <button aria-label={said.previous} title={`${said.previous} (←)`} onClick={() => go(current - 1)}>‹</button>
          <button aria-label={playing.value ? said.pause : said.play} title={`${playing.value ? said.pause : said.play} (Space)`} data-play onClick={play}>{playing.value ? "❚❚" : "▶"}</button>
          <button aria-label={said.next} title={`${said.next} (→)`} onClick={() => go(current + 1)}>›</button>
        </span>
        <span class="quiet nowrap along">{said.through}</span>
        <Segment label={said.through} entries={Object.entries(said.modes).map(([each, name]) => ({ key: each, name }))} current={mode} onPick={(next) => { setMode(next); playing.value = false; place.value = next === "model" ? 0 : Math.max(0, steps.indexOf(at.step)); }} />
        {isModel && <Segment label={said.frames} entries={[{ key: "stages", name: said.stages }, { key: "every", name: said.every }]} current={every ? "every" : "stages"} onPick={(next) => setEvery(next === "every")} />}
        {isModel && picture && <button class="plain small" aria-pressed={cam} title={said.camFormula} onClick={() => setCam(!cam)}>{cam ? "☑" : "☐"} {said.cam}</button>}
        <button class="plain small" title={said.saveTitle} onClick={save}>{recording ? said.saving : said.save}</button>
        <SamplePicker held={at} />
        <Stamp held={at} />
      </div>
      {cam && isModel && <p class="quiet note">{veil ? said.camFormula : said.camNeeds}</p>}
      {length === 0 && <p class="sentence">{said.empty}</p>}
      <div class="stage"><canvas ref={canvas} style={{ width: `${room.value.width}px`, height: `${room.value.height}px` }} onClick={pick} /></div>
    </div>
  );
}

function lastName(frame: Frame): string {
  return displayName(frame.head, frame.head);
}

function titleOf(frame: Frame): string {
  return frame.head === frame.path ? frame.path : `${frame.head} → ${displayName(frame.path, frame.path)}`;
}

/** The newest answer to a question; null until it arrives, or where there is none. */
function useFetched<T>(ask: () => Promise<T>, on: unknown[]): T | null {
  const [answer, setAnswer] = useState<T | null>(null);
  useEffect(() => {
    let isCurrent = true;
    setAnswer(null);
    ask().then((value) => isCurrent && setAnswer(value), () => undefined);
    return () => { isCurrent = false; };
  }, on);
  return answer;
}

