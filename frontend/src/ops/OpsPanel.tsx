/** The operations of the chosen call: in words first, then forward and backward, as lists and as a graph. */
import { useState } from "preact/hooks";
import { Segment } from "../bar/TopBar";
import { CopyPython } from "../inspector/CopyPython";
import { opsPython } from "../inspector/python";
import { useAnswer } from "../inspector/useAnswer";
import { fetchChain } from "../lineageApi";
import { chosenOp, graph, run, stream } from "../state";
import { lineageWords } from "../words/lineage";
import { Chain } from "./Chain";
import { OpGraph } from "./OpGraph";
import { OpList } from "./OpList";
import { traceAtCursor, useOps, type Ops } from "./useOps";

export function OpsPanel({ call }: { call: number }) {
  const { path } = graph.value!.calls[call]!;
  const [at, of, trace] = [run.value, stream.value, traceAtCursor()];
  const chain = useAnswer(JSON.stringify([at, of, trace, path]), () => fetchChain(at, of, trace, path));
  const { value, problem } = useOps({ path });
  if (problem) return <p class="sentence">{/^TensorBoard answered with status 404/.test(problem) ? lineageWords.unknown : problem}</p>;
  if (!value) return <p class="quiet">{lineageWords.loading}</p>;
  if (!value.all) return <p class="sentence">{lineageWords.none}</p>;
  if (!value.ops.length) return <p class="sentence">{lineageWords.noneOfCall}</p>;
  return (
    <div class="sections">
      {chain.value && chain.value.length > 0 && <Chain chain={chain.value} />}
      <Lists found={value} trace={trace} python={opsPython(at, of, path)} />
    </div>
  );
}

/** Forward, backward or both as a graph; the operation that is chosen decides which list stands open. */
export function Lists({ found, trace, python }: { found: Ops; trace: number | null; python: string }) {
  const [wanted, setWanted] = useState("forward");
  const of = (direction: string) => found.ops.filter((op) => op.direction === direction);
  const [forward, backward] = [of("forward"), of("backward")];
  const chosen = found.ops.find(({ number }) => number === chosenOp.value);
  const [seen, setSeen] = useState<number | null>(null);
  // Once: a later choice of the list by hand stays.
  if (chosen && seen !== chosen.number) {
    setSeen(chosen.number);
    if (wanted !== "graph") setWanted(chosen.direction);
  }
  const shown = wanted === "backward" && !backward.length ? "forward" : wanted === "forward" && !forward.length ? "backward" : wanted;
  const entries = [
    { key: "forward", name: lineageWords.count(lineageWords.directions.forward!, forward.length) },
    { key: "backward", name: lineageWords.count(lineageWords.directions.backward!, backward.length) },
    { key: "graph", name: lineageWords.directions.graph },
  ];
  return (
    <section>
      <div class="tools spaced">
        <Segment label={lineageWords.list} entries={entries} current={shown} onPick={setWanted} />
        <CopyPython text={python} />
      </div>
      {shown === "graph" ? (
        <>
          <OpGraph ops={found.ops} />
          {chosen && <OpList ops={[chosen]} stacks={found.stacks} known={found.ops} trace={trace} />}
        </>
      ) : (
        <OpList key={shown} ops={shown === "forward" ? forward : backward} stacks={found.stacks} known={found.ops} trace={trace} />
      )}
      {found.total > found.ops.length && <p class="quiet note">{lineageWords.more(found.ops.length, found.total)}</p>}
    </section>
  );
}
