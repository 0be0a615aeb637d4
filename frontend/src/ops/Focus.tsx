/** What the inspector shows when no call is chosen but a bucket of operations or a line of the program. */
import { opsPython, bucketPython } from "../inspector/python";
import { useAnswer } from "../inspector/useAnswer";
import { fetchCallsOf, fetchLines } from "../lineageApi";
import { reveal } from "../selection";
import { focus, graph, inspectorOpen, run, stream } from "../state";
import { words } from "../strings";
import { lineageWords } from "../words/lineage";
import { Lists } from "./OpsPanel";
import { traceAtCursor, useOps } from "./useOps";

export function Focus({ kind, name }: { kind: "bucket" | "line"; name: string }) {
  const close = () => {
    focus.value = null;
    inspectorOpen.value = false;
  };
  return (
    <>
      <div class="title">
        <button class="icon close" aria-label={words.inspector.close} title={words.inspector.close} onClick={close}>
          <svg viewBox="0 0 12 12" aria-hidden="true"><path d="m2.5 2.5 7 7m0-7-7 7" /></svg>
        </button>
        <h2 class={kind === "line" ? "mono" : ""}>{kind === "line" ? name : (lineageWords.buckets[name] ?? name)}</h2>
        <p>{kind === "line" ? lineageWords.lineTitle : lineageWords.bucketTitle(lineageWords.buckets[name] ?? name)}</p>
      </div>
      <div class="panel">{kind === "line" ? <Line place={name} /> : <Bucket name={name} />}</div>
    </>
  );
}

function Bucket({ name }: { name: string }) {
  const { value, problem } = useOps({ bucket: name });
  if (problem) return <p class="sentence">{problem}</p>;
  if (!value) return <p class="quiet">{lineageWords.loading}</p>;
  return <Lists found={value} trace={traceAtCursor()} python={bucketPython(run.value, stream.value, name)} />;
}

/** From a line to all its calls, and to the operations that it made. */
function Line({ place }: { place: string }) {
  const [at, of, trace] = [run.value, stream.value, traceAtCursor()];
  const key = JSON.stringify([at, of, trace, place]);
  const { value, problem } = useAnswer(key, async () => {
    const [calls, lines] = await Promise.all([fetchCallsOf(at, of, trace, place), fetchLines(at, of, trace)]);
    return { calls, text: lines.find(({ file, line }) => `${file}:${line}` === place)?.text ?? "" };
  });
  const ops = useOps({ search: place });
  const calls = graph.value!.calls;
  if (problem) return <p class="sentence">{problem}</p>;
  if (!value) return <p class="quiet">{lineageWords.loading}</p>;
  return (
    <div class="sections">
      {value.text && <pre class="code">{value.text}</pre>}
      <section>
        <h3>{lineageWords.lineCalls}</h3>
        {value.calls.length ? (
          <ul class="calls">
            {value.calls.map((call) => calls[call] && (
              <li key={call}><button class="link mono" onClick={() => reveal(call)}>{calls[call]!.path === "." ? graph.value!.model : calls[call]!.path}</button> <span class="quiet">{calls[call]!.type}</span></li>
            ))}
          </ul>
        ) : (
          <p class="sentence">{lineageWords.lineNone}</p>
        )}
      </section>
      {ops.value && ops.value.ops.length > 0 && <Lists found={ops.value} trace={trace} python={opsPython(at, of, place)} />}
    </div>
  );
}
