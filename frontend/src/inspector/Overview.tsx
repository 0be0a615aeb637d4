/** What there is when nothing is chosen: the model, what was recorded and what not, what recording cost, and the doors that work. */
import { count, duration, epoch, number, rough } from "../format";
import { executionWord, ExecutionFactsList } from "../bar/Execution";
import { FindingsList } from "../findings/FindingsList";
import { speaks } from "../graph/tree";
import { reveal, tree } from "../selection";
import { chosenPath, colourBy, findings, graph, heatmap, ledger, ledgerOpen, namedKind, record, steps, streamInfo } from "../state";
import { kindName, statusSentence, words } from "../strings";
import { valueOfCall, WEIGHT_KINDS } from "../values";
import { onlyRecorded, recordingCost } from "./cost";
import { isNote } from "./ledger";

const LEDGER_SHOWN = 200;

export function Overview() {
  const { model, layers, execution } = graph.value!;
  const parameters = layers.reduce((sum, layer) => sum + layer.weights.reduce((all, { shape }) => all + shape.reduce((a, b) => a * b, 1), 0), 0);
  const policy = execution.dtype_policy;
  return (
    <div class="overview" aria-label={words.overview.label}>
      <div class="title">
        <h2>{model || words.overview.label}</h2>
        <p>
          {words.overview.calls(tree.value!.leafCount)} · {words.overview.weights(rough(parameters))} · {executionWord(execution)}
          {policy && <> · {policy}</>}
        </p>
        {chosenPath.value && <p class="sentence">{words.overview.absent(chosenPath.value)}</p>}
      </div>
      <div class="panel">
        <Records />
        {findings.value && (
          <section aria-label={words.findings.label}>
            <h3>{words.findings.label}</h3>
            {findings.value.length ? <FindingsList /> : <p>{words.findings.none}</p>}
          </section>
        )}
        <Recorded />
        <CostOfRecording />
        <Doors />
        <details>
          <summary>{words.overview.execution}</summary>
          <ExecutionFactsList facts={execution} />
        </details>
      </div>
    </div>
  );
}

function Records() {
  const table = steps.value;
  const info = streamInfo.value;
  if (!table?.step.length) return null;
  const last = table.step.length - 1;
  const [first, final] = [count(table.step[0]!), count(table.step[last]!)];
  const epochs = [table.epoch[0]!, table.epoch[last]!];
  return (
    <section>
      <p>
        {last ? words.overview.records(count(last + 1), first, final) : words.overview.oneRecord(first)}
        {epochs[0]! >= 0 && <>, {words.overview.epochs(epoch(epochs[0]!), epoch(epochs[1]!))}</>}
      </p>
      {[...table.losses].map(([name, values]) => (
        <p key={name} title={epochs[0]! < 0 ? undefined : name === "loss" ? words.overview.ofBatch : words.overview.runningMean}>
          {name} <span class="strong mono">{last ? `${number(values[0]!, 3)} → ${number(values[last]!, 3)}` : number(values[0]!, 3)}</span>
        </p>
      ))}
      {info && info.sessions.length > 1 && <p class="quiet">{words.overview.sessions(info.sessions.length)}</p>}
      {info && info.written > info.records && <p class="sentence">▲ {words.overview.sampledAway(count(info.records), count(info.written))}</p>}
      {info?.problem && <p class="sentence">▲ {info.problem}</p>}
    </section>
  );
}

function Recorded() {
  const kinds = record.value?.kinds;
  const missing = ledger.value?.filter((entry) => !isNote(entry));
  const notes = ledger.value?.filter(isNote);
  const entries = missing && notes && [...missing, ...notes];
  const recorded = new Set([...(kinds ?? [])].flatMap(([kind, { ports }]) => (WEIGHT_KINDS.has(kind) ? [] : ports.map(([call]) => call))));
  // As everywhere on the screen, groups and inputs do not count.
  const calls = [...recorded].filter((call) => speaks(tree.value!, call)).length;
  const names = [...(kinds?.entries() ?? [])].filter(([, { ports }]) => ports.length).map(([kind]) => kindName(namedKind(kind)));
  return (
    <section>
      <h3>{words.overview.recorded}</h3>
      <p>
        {kinds && <>{words.overview.recordedOf(names.join(", "), calls)}; </>}
        {entries?.length ? (
          <>
            {missing!.length ? words.overview.skipped(missing!.length) : words.overview.nothingSkipped}
            {notes!.length > 0 && <>, {words.overview.notes(notes!.length)}</>}{" "}
            <button class="link" aria-expanded={ledgerOpen.value} onClick={() => (ledgerOpen.value = !ledgerOpen.value)}>
              {ledgerOpen.value ? words.overview.hideWhy : words.overview.why}
            </button>
          </>
        ) : (
          entries && words.overview.nothingSkipped
        )}
      </p>
      {ledgerOpen.value && entries && (
        <ul class="ledger">
          {entries.slice(0, LEDGER_SHOWN).map((entry, index) => (
            <li key={index}>
              <span class="mono">{entry.path || "–"}</span> <span class="quiet">{[entry.kind, isNote(entry) ? words.overview.note : entry.status].filter(Boolean).join(" · ")}</span>
              {entry.reason && <div>{statusSentence(entry.reason)}</div>}
              {entry.step >= 0 && <div class="quiet">{words.overview.ledgerStep(count(entry.step))}</div>}
            </li>
          ))}
          {entries.length > LEDGER_SHOWN && <li class="quiet">{words.overview.ledgerMore(entries.length - LEDGER_SHOWN)}</li>}
        </ul>
      )}
    </section>
  );
}

function CostOfRecording() {
  const cost = steps.value && recordingCost(steps.value);
  return (
    <section>
      <h3>{words.overview.cost}</h3>
      {cost ? (
        <p>
          {words.overview.costOf(number(100 * cost.share, 2))} · {words.overview.costPerRecord(duration(cost.perRecord), duration(cost.perStep))}
        </p>
      ) : (
        <p class="quiet">{steps.value && onlyRecorded(steps.value) ? words.overview.costNoPlain : words.overview.costUnknown}</p>
      )}
    </section>
  );
}

/** Ways on from here; only those that lead somewhere in this stream. */
function Doors() {
  const hasErrors = record.value?.kinds.get("error")?.ports.length;
  const largest = () => {
    colourBy.value = { kind: "error", column: "l2" };
    let worst = -1;
    let most = -1;
    for (const [call, value] of valueOfCall.value) {
      if (value > most && speaks(tree.value!, call)) [worst, most] = [call, value];
    }
    if (worst >= 0) reveal(worst);
  };
  return (
    <div class="doors">
      {hasErrors ? (
        <>
          <button class="door" onClick={() => { colourBy.value = { kind: "error", column: "l2" }; heatmap.value = true; }}>
            {words.overview.doors.heatmap} <kbd>H</kbd>
          </button>
          <button class="door" onClick={largest}>{words.overview.doors.largest}</button>
        </>
      ) : (
        <button class="door" onClick={() => (heatmap.value = true)}>
          {words.overview.doors.outputs} <kbd>H</kbd>
        </button>
      )}
    </div>
  );
}
