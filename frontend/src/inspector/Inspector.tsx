/** The inspector: the chosen call in panels, or the overview where nothing is chosen. */
import { FindingsOfCall } from "../findings/FindingsList";
import { duration, rough, withUnit } from "../format";
import { Focus } from "../ops/Focus";
import { choose, tree } from "../selection";
import { chosen, focus, graph, inspectorOpen, panel, record } from "../state";
import { statusSentence, words } from "../strings";
import { Overview } from "./Overview";
import { PANELS } from "./panels";

export function Inspector() {
  const call = chosen.value;
  return (
    <aside class={`inspector${inspectorOpen.value ? " open" : ""}`} aria-label={words.inspector.label}>
      {graph.value && (focus.value ? <Focus key={focus.value.kind + focus.value.name} {...focus.value} /> : call === null || !graph.value.calls[call] ? <Overview /> : <ChosenCall call={call} />)}
    </aside>
  );
}

function ChosenCall({ call }: { call: number }) {
  const chosenCall = graph.value!.calls[call]!;
  const shown = PANELS.filter(({ applies }) => !applies || applies(chosenCall));
  const current = shown.find(({ key }) => key === panel.value) ?? shown[0]!;
  const Current = current.component;
  const move = (event: KeyboardEvent) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    const next = shown[(shown.indexOf(current) + by + shown.length) % shown.length]!;
    panel.value = next.key;
    document.getElementById(`tab-${next.key}`)?.focus();
    event.preventDefault();
  };
  return (
    <>
      <Title call={call} />
      <div class="tabs" role="tablist" onKeyDown={move}>
        {shown.map(({ key }) => (
          <button
            key={key}
            id={`tab-${key}`}
            role="tab"
            aria-selected={key === current.key}
            aria-controls="panel"
            tabIndex={key === current.key ? 0 : -1}
            onClick={() => (panel.value = key)}
          >
            {words.inspector.panels[key]}
          </button>
        ))}
      </div>
      <div class="panel" id="panel" role="tabpanel" aria-labelledby={`tab-${current.key}`} tabIndex={-1}>
        <Current call={call} />
      </div>
    </>
  );
}

function Title({ call }: { call: number }) {
  const at = tree.value!;
  const { path, type, kind, layer, status, failed, repeats, outputs, flops, output_bytes: bytes } = at.calls[call]!;
  const layerFacts = layer === null ? null : graph.value!.layers[layer]!;
  const { k, n } = at.occurrence[call]!;
  const [forward, backward] = [0, 1].map((way) => record.value?.seconds?.[2 * call + way] ?? 0) as [number, number];
  const isGroup = at.children[call]!.length > 0;
  return (
    <div class="title">
      <button class="icon close" aria-label={words.inspector.close} title={words.inspector.close} onClick={() => { choose(null); inspectorOpen.value = false; }}>
        <svg viewBox="0 0 12 12" aria-hidden="true"><path d="m2.5 2.5 7 7m0-7-7 7" /></svg>
      </button>
      <h2 class="mono">{path === "." ? graph.value!.model || path : path}</h2>
      <p>
        {type}
        {n > 1 && layerFacts && (
          <>
            {" · "}
            {words.inspector.nthOf(k, n)}
            <span class="mono">{layerFacts.path}</span>
          </>
        )}
        {isGroup && <> · {words.inspector.group(at.leaves[call]!)}</>}
        {layerFacts && layerFacts.parameters > 0 && <> · {words.inspector.weights(rough(layerFacts.parameters))}</>}
      </p>
      <p title={words.inspector.workTitle}>
        {kind !== "input" && <>{flops == null ? words.inspector.flopsUnknown : withUnit(flops, "FLOP")} · </>}
        {words.inspector.output(bytes == null ? null : withUnit(bytes, "B"))}
        {(flops || bytes) && <> · {words.inspector.each(outputs.some(({ shape }) => shape?.[0] === -1))}</>}
      </p>
      {forward + backward > 0 && <p title={words.inspector.secondsTitle}>{words.inspector.seconds(duration(forward), duration(backward))}</p>}
      {status && <p class="sentence">{statusSentence(status)}</p>}
      {failed && <p class="sentence bad">■ {words.inspector.failed}</p>}
      <FindingsOfCall call={call} />
      {repeats > 1 && <p class="sentence">{words.inspector.repeats(repeats)}</p>}
    </div>
  );
}

