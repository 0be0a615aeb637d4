/** The exact values of a call: what went in, what came out and the error, as maps with every number at hand. */
import { useState } from "preact/hooks";
import type { Held } from "../exact";
import { count, number, shape, share } from "../format";
import { kindsOf, KindSwitch, PortPicker, RangeAndOrder, SamplePicker } from "../maps/MapTools";
import { heldTensor } from "../exact";
import { useFigures } from "../maps/figures";
import { MapPane } from "../maps/MapPane";
import { Lens } from "../maps/Lens";
import { isOlder } from "../maps/shown";
import { graph, held, mapKind, noValues, sample, view } from "../state";
import { words } from "../strings";
import { cell } from "../values";

export function Values({ call }: { call: number }) {
  const [port, setPort] = useState(0);
  const at = held.value;
  const { path, inputs } = graph.value!.calls[call]!;
  if (!at) return <p class="sentence">{noValues.value || words.exact.loading}</p>;
  const kinds = kindsOf(at, inputs.length > 0);
  const kind = kinds.includes(mapKind.value) ? mapKind.value : "output";
  const own = at.graph.calls[at.callOf.get(path) ?? -1];
  const ports = (kind === "input" ? own?.inputs : own?.outputs) ?? [];
  const shown = port < ports.length ? port : 0;
  const inMaps = view.value === "maps";
  return (
    <div class={`values${isOlder.value ? " old" : ""}`}>
      {!inMaps && (
        <div class="tools wrap">
          <KindSwitch kinds={kinds} current={kind} withAll={false} />
          <SamplePicker held={at} />
          <PortPicker names={ports.map(({ key }) => key)} port={shown} onPick={setPort} />
          <Stamp held={at} />
        </div>
      )}
      <Facts held={at} path={path} kind={kind} port={shown} />
      {!inMaps && (
        <>
          {heldTensor(at, path, kind, shown) && <div class="tools wrap"><RangeAndOrder many={manyMaps(at, path, kind, shown)} /></div>}
          <MapPane held={at} path={path} kind={kind} port={shown} edge={52} />
        </>
      )}
      <Lens held={at} />
    </div>
  );
}

export function manyMaps(at: Held, path: string, kind: string, port: number): boolean {
  return (heldTensor(at, path, kind, port)?.value.shape.length ?? 0) > 3;
}

/** Says when the values are not those of the cursor's step. */
export function Stamp({ held: at }: { held: Held }) {
  return isOlder.value ? <span class="stamp" title={words.exact.stampTitle}>{words.exact.stamp(count(at.step))}</span> : null;
}

/** Statistics of the sample that is shown; where it is too large to be read for that, the record's of the whole batch, so named. */
function Facts({ held: at, path, kind, port }: { held: Held; path: string; kind: string; port: number }) {
  const tensor = heldTensor(at, path, kind, port);
  const figures = useFigures(tensor, sample.value);
  if (!tensor) return null;
  const table = at.record.kinds.get(tensor.value.kind);
  const row = table?.ports.findIndex(([call, each]) => call === tensor.call && each === tensor.port) ?? -1;
  const facts: [string, string][] = [["shape", shape(tensor.value.shape.slice(1))], ["dtype", tensor.value.dtype]];
  const recorded = figures === null && table && row >= 0 ? table : null;
  const of = (column: "mean" | "std" | "min" | "max") => (recorded ? cell(at.record, recorded, row, column) : figures?.[column]);
  const zero = recorded ? share(cell(at.record, recorded, row, "zero"), recorded.part[2 * row]!) : figures ? share(figures.zeros, figures.count) : "…";
  const isKnown = recorded !== null || figures !== null;
  if (isKnown) facts.push([words.exact.share, zero]);
  facts.push(["step", count(at.step)]);
  if (isKnown) for (const column of ["mean", "std", "min", "max"] as const) facts.push([column, of(column) === undefined ? "…" : number(of(column)!, 3)]);
  const [kept, batch] = [at.info.samples, at.record.batchSize];
  return (
    <>
      <dl class="fact-row" data-of={recorded ? "batch" : "sample"}>
        {facts.map(([name, value]) => <div key={name}><dt>{name}</dt><dd class="mono">{value}</dd></div>)}
      </dl>
      <p class="quiet note">
        {recorded ? words.exact.ofBatch(batch) : words.exact.ofSample(sample.value)}
        {kept < batch && <> {words.exact.keptSamples(kept, batch)}</>}
      </p>
    </>
  );
}
