/** The one step cursor: a slider over the steps that exist, with a tick for each record and a mark where a session begins. */
import { useEffect } from "preact/hooks";
import { count, epoch } from "../format";
import { marksOnSteps } from "../findings/places";
import { goToIndex, moveStep } from "../selection";
import { awake, findings, playing, record, stepIndex, steps } from "../state";
import { words } from "../strings";
import { seams, tickPlaces } from "./ticks";

const PLAY_MS = 160;
/** Goes on when the record under the cursor has arrived, so that every step is seen. */
function usePlay(): void {
  const on = playing.value && awake.value;
  useEffect(() => {
    if (!on) return;
    if (steps.peek() && stepIndex.peek() === steps.peek()!.step.length - 1) goToIndex(0);
    const timer = setInterval(() => {
      const all = steps.peek()?.step;
      const index = stepIndex.peek();
      if (!all || record.peek()?.step !== all[index]) return;
      if (index >= all.length - 1) playing.value = false;
      else moveStep(1);
    }, PLAY_MS);
    return () => clearInterval(timer);
  }, [on]);
}

export function StepCursor() {
  usePlay();
  const table = steps.value;
  const index = stepIndex.value;
  if (!table || index < 0) return <div class="cursor" />;
  const last = table.step.length - 1;
  const at = table.step[index]!;
  const epochAt = table.epoch[index]!;
  const stepText = words.bar.step(count(at));
  const epochText = epochAt >= 0 ? words.bar.epoch(epoch(epochAt)) : "";
  return (
    <div class="cursor">
      <button
        class="icon"
        aria-label={playing.value ? words.bar.pause : words.bar.play}
        title={playing.value ? words.bar.pause : words.bar.play}
        disabled={last === 0}
        onClick={() => (playing.value = !playing.value)}
      >
        <svg viewBox="0 0 12 12" aria-hidden="true">
          {playing.value ? <path d="M2.5 2h2.4v8H2.5zM7.1 2h2.4v8H7.1z" /> : <path d="M3 1.5v9l7-4.5z" />}
        </svg>
      </button>
      <div class="track" title={words.bar.record(index + 1, last + 1)}>
        <div class="ticks" aria-hidden="true">
          {tickPlaces(last + 1).map((place) => (
            <u key={place} style={{ left: `${100 * place}%` }} />
          ))}
          {seams(table.session).map((seam) => (
            <em key={seam} style={{ left: `${(100 * seam) / last}%` }} title={words.bar.seam(count(table.step[seam]!))} />
          ))}
          {marksOnSteps(findings.value ?? [], table.step).map(({ index: at, level }) => (
            <b key={at} class={level} style={{ left: `${last ? (100 * at) / last : 50}%` }} title={words.findings.mark(words.findings.levels[level], count(table.step[at]!))} />
          ))}
        </div>
        <input
          type="range"
          aria-label={words.bar.slider}
          aria-valuetext={[stepText, epochText].filter(Boolean).join(", ")}
          // Of one record only the handle stands in the middle, where its tick is.
          min={last ? 0 : -1}
          max={last || 1}
          value={index}
          onInput={(event) => goToIndex(Number(event.currentTarget.value))}
          onKeyDown={(event) => {
            // The page's own keys move the cursor; the slider's would move it twice.
            if (event.key.startsWith("Arrow") && !event.key.endsWith("t")) event.preventDefault();
          }}
        />
      </div>
      <span class="where mono">
        {stepText}
        {epochText && <span class="quiet"> · {epochText}</span>}
      </span>
    </div>
  );
}
