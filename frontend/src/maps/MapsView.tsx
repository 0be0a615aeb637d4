/** The centre's third view: the maps of the chosen call at full width; in, out and error side by side where there is room. */
import { useState } from "preact/hooks";
import { Stamp, manyMaps } from "../inspector/Values";
import { chosen, graph, held, mapKind, namedKind, noValues } from "../state";
import { words } from "../strings";
import { firstWithValues } from "./first";
import { MapPane } from "./MapPane";
import { KindSwitch, kindsOf, PortPicker, RangeAndOrder, SamplePicker } from "./MapTools";
import { isOlder } from "./shown";

export function MapsView() {
  const at = held.value;
  const [port, setPort] = useState(0);
  if (!at) return <div class="maps-view"><p class="sentence">{noValues.value || words.exact.loading}</p></div>;
  const call = graph.value!.calls[chosen.value ?? firstWithValues(at, graph.value!)];
  if (!call) return <div class="maps-view"><p class="sentence">{words.exact.noneChosen}</p></div>;
  const kinds = kindsOf(at, call.inputs.length > 0);
  const current = mapKind.value === "all" || kinds.includes(mapKind.value) ? mapKind.value : "output";
  const own = at.graph.calls[at.callOf.get(call.path) ?? -1];
  const ports = (current === "input" ? own?.inputs : own?.outputs) ?? [];
  const shown = port < ports.length ? port : 0;
  const panes = current === "all" ? [...kinds.filter((kind) => kind === "input"), "output", kinds.find((kind) => kind.startsWith("error"))!] : [current];
  return (
    <div class={`maps-view${isOlder.value ? " old" : ""}`}>
      <div class="tools wrap">
        <h2 class="mono cut">{call.path}</h2>
        <span class="quiet nowrap">{call.type}</span>
        <KindSwitch kinds={kinds} current={current} withAll />
        <SamplePicker held={at} />
        <PortPicker names={ports.map(({ key }) => key)} port={shown} onPick={setPort} />
        <RangeAndOrder many={panes.some((kind) => manyMaps(at, call.path, kind, shown))} />
        <Stamp held={at} />
      </div>
      <div class="panes">
        {panes.map((kind) => (
          <section key={kind}>
            {panes.length > 1 && <h3>{words.exact.kinds[kind] ?? namedKind(kind)}</h3>}
            <MapPane held={at} path={call.path} kind={kind} port={kind === "input" && current === "all" ? 0 : shown} edge={panes.length > 1 ? 54 : 84} tall terse={panes.length > 1} />
          </section>
        ))}
      </div>
    </div>
  );
}
