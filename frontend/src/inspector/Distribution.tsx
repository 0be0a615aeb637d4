/** The statistics of a call's output, error and input side by side, and the histogram of one of them. */
import { useState } from "preact/hooks";
import type { RecordTable } from "../api";
import { fetchHistogram } from "../api";
import { Segment } from "../bar/TopBar";
import { count, number, shape, share } from "../format";
import { reveal } from "../selection";
import { graph, namedKind, record, run, stream } from "../state";
import { columnName, kindShort, statusSentence, words } from "../strings";
import { CopyPython } from "./CopyPython";
import { Histogram } from "./Histogram";
import { histogramPython } from "./python";
import { COLUMNS, ownPass, partOf, statistic, tensorsOf, tensorsOfPort, type Tensor } from "./tensors";
import { useAnswer } from "./useAnswer";

const COUNTS = new Set(["zero", "nan", "pos_inf", "neg_inf"]);

export function Distribution({ call }: { call: number }) {
  const calls = graph.value!.calls;
  const table = record.value;
  const tensors = tensorsOf(calls, call, table, words.distribution.none);
  const [port, setPort] = useState(0);
  const [wanted, setWanted] = useState("output");
  const ports = [...new Set(tensors.map(({ ownPort }) => ownPort))];
  const shownPort = ports.includes(port) ? port : 0;
  const all = tensorsOfPort(tensors, shownPort);
  const own = table && ownPass(table, all);
  const shown = own ? all.filter(({ kind }) => kind !== "error") : all;
  const drawn = shown.find(({ kind, row }) => kind === wanted && row >= 0) ?? shown.find(({ row }) => row >= 0);
  if (!table) return null;
  return (
    <>
      {ports.length > 1 && (
        <div class="tools">
          <label class="quiet">
            {words.distribution.portLabel}{" "}
            <select value={shownPort} onChange={(event) => setPort(Number(event.currentTarget.value))}>
              {ports.map((each) => (
                <option key={each} value={each}>
                  {words.distribution.port(each, (calls[call]!.outputs[each] ?? calls[call]!.inputs[each])?.key ?? "")}
                </option>
              ))}
            </select>
          </label>
        </div>
      )}
      <StatisticsTable table={table} tensors={shown} />
      {own && <p class="quiet note">{words.distribution.ownPass(kindShort(namedKind(own.kind)))}</p>}
      {shown.filter(({ status }) => status).map((tensor) => (
        <p class="sentence" key={tensor.kind}>
          <span class="strong">{kindShort(namedKind(tensor.kind))}</span> {statusSentence(tensor.status)}
        </p>
      ))}
      <Sources tensors={shown} call={call} />
      {drawn && (
        <>
          <div class="tools spaced">
            <Segment
              label={words.distribution.which}
              entries={shown.filter(({ row }) => row >= 0).map(({ kind }) => ({ key: kind, name: kindShort(namedKind(kind)) }))}
              current={drawn.kind}
              onPick={setWanted}
            />
            <CopyPython text={histogramPython(run.value, stream.value, calls[drawn.call]!.path, drawn.recordedAs, drawn.port, table.step)} />
          </div>
          <HistogramOf tensor={drawn} step={table.step} />
        </>
      )}
    </>
  );
}

function StatisticsTable({ table, tensors }: { table: RecordTable; tensors: Tensor[] }) {
  const filled = tensors.filter(({ row }) => row >= 0);
  if (!filled.length) return null;
  const parts = filled.map((tensor) => partOf(table, tensor));
  const text = (tensor: Tensor, column: string, index: number) => {
    const value = statistic(table, tensor, column);
    if (!COUNTS.has(column)) return number(value);
    return column === "zero" ? share(value, parts[index]!.part) : count(value);
  };
  return (
    <div class="wide-table"><table class={`statistics${filled.length > 3 ? " tight" : ""}`}>
      <thead>
        <tr>
          <th />
          {filled.map(({ kind }) => (
            <th key={kind} scope="col">{kindShort(namedKind(kind)).replace(":", ": ")}</th>
          ))}
        </tr>
      </thead>
      <tbody class="mono">
        <tr>
          <th scope="row">{words.distribution.shape}</th>
          {filled.map(({ kind, info }) => (
            <td key={kind}>{shape(info.shape)}</td>
          ))}
        </tr>
        <tr>
          <th scope="row">{words.distribution.elements}</th>
          {filled.map((tensor) => (
            <td key={tensor.kind}>{count(statistic(table, tensor, "count"))}</td>
          ))}
        </tr>
        {COLUMNS.map((column) => (
          <tr key={column} data-column={column}>
            <th scope="row">{columnName(column)}</th>
            {filled.map((tensor, index) => {
              const value = statistic(table, tensor, column);
              const bad = COUNTS.has(column) && column !== "zero" ? value > 0 : !Number.isFinite(value);
              return (
                <td key={tensor.kind} class={bad ? "bad" : value === 0 ? "zero" : ""} data-kind={tensor.kind} data-value={value} title={String(value)}>
                  {text(tensor, column, index)}
                </td>
              );
            })}
          </tr>
        ))}
      </tbody>
    </table></div>
  );
}

/** Whose numbers they are, where a tensor was recorded under another call. */
function Sources({ tensors, call }: { tensors: Tensor[]; call: number }) {
  const calls = graph.value!.calls;
  const foreign = tensors.filter((tensor) => tensor.row >= 0 && tensor.call !== call);
  return (
    <>
      {foreign.map((tensor) => (
        <p class="quiet note" key={tensor.kind}>
          {kindShort(namedKind(tensor.kind))} {tensor.kind === "input" ? words.distribution.isInput : words.distribution.passesOn}{" "}
          <button class="link mono" onClick={() => reveal(tensor.call)}>{calls[tensor.call]!.path}</button>
        </p>
      ))}
    </>
  );
}

function HistogramOf({ tensor, step }: { tensor: Tensor; step: number }) {
  const path = graph.value!.calls[tensor.call]!.path;
  const [at, of, kind, port] = [run.value, stream.value, tensor.recordedAs, tensor.port];
  const key = JSON.stringify([at, of, step, path, kind, port]);
  const { value, problem } = useAnswer(key, () => fetchHistogram(at, of, step, path, kind, port));
  if (problem) return <p class="sentence">{words.distribution.noHistogram} {problem}</p>;
  if (!value) return <div class="histogram" />;
  const { part, total, stride } = value.sampled_from;
  return (
    <>
      <Histogram histogram={value} kind={tensor.kind} />
      <p class="quiet note">
        {words.distribution.axis} ·{" "}
        {part >= total ? words.distribution.exact : words.distribution.from(count(part), count(total)) + (stride > 1 ? words.distribution.everyKth(stride) : words.distribution.wholeSamples)}
        {part < total && <> · {words.distribution.partNote}</>}
      </p>
    </>
  );
}
