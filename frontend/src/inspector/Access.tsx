/** The Python text that reaches the chosen layer in the model, and its numbers in the reader. */
import { graph, record, run, stream, streams } from "../state";
import { words } from "../strings";
import { CopyPython } from "./CopyPython";
import { histogramPython, seriesPython } from "./python";
import { tensorsOf } from "./tensors";

export function Access({ call }: { call: number }) {
  const { calls, layers } = graph.value!;
  const { layer } = calls[call]!;
  const facts = layer === null ? null : layers[layer]!;
  const tensor = tensorsOf(calls, call, record.value, "").find(({ row }) => row >= 0);
  const step = record.value?.step;
  return (
    <>
      {facts && (
        <Code title={words.access.layer} text={facts.access} instead={words.access.unreachable} />
      )}
      {tensor && step !== undefined && (
        <>
          <Code
            title={words.access.statistics}
            text={seriesPython(run.value, stream.value, calls[tensor.call]!.path, tensor.recordedAs, "l2", tensor.port)}
          />
          <Code
            title={words.access.histogram}
            text={histogramPython(run.value, stream.value, calls[tensor.call]!.path, tensor.recordedAs, tensor.port, step)}
          />
          {!streams.value?.logdir && <p class="quiet note">{words.access.note}</p>}
        </>
      )}
    </>
  );
}

function Code({ title, text, instead = "" }: { title: string; text: string; instead?: string }) {
  return (
    <section>
      <div class="tools spaced">
        <h3>{title}</h3>
        {text && <CopyPython text={text} />}
      </div>
      {text ? <pre class="code">{text}</pre> : <p class="quiet note">{instead}</p>}
    </section>
  );
}
