/** The variables of the chosen call's layer, and the numbers of one of them. */
import { useState } from "preact/hooks";
import { count, shape } from "../format";
import { weighedInside } from "../graph/tree";
import { reveal, tree } from "../selection";
import { graph, run, stream } from "../state";
import { words } from "../strings";
import { CopyPython } from "./CopyPython";
import { weightsPython } from "./python";
import { WeightMaps } from "./WeightMaps";
import { WeightNumbers } from "./WeightNumbers";

export function Weights({ call }: { call: number }) {
  const [wanted, setWanted] = useState(0);
  const { calls, layers } = graph.value!;
  const { layer } = calls[call]!;
  const inside = weighedInside(tree.value!, call);
  const innerOnes = inside.length > 0 && (
    <>
      <p class="note">{words.weights.inside(inside.length)}</p>
      <Calls of={inside} />
    </>
  );
  if (layer === null) return innerOnes || <p class="sentence">{words.weights.noLayer}</p>;
  const { weights, parameters, path } = layers[layer]!;
  if (!weights.length) return innerOnes || <p class="sentence">{words.weights.none}</p>;
  const current = Math.min(wanted, weights.length - 1);
  const shared = tree.value!.callsOfLayer[layer]!;
  const size = (dimensions: number[]) => dimensions.reduce((product, each) => product * each, 1);
  return (
    <>
      <table class="statistics weights">
        <thead>
          <tr>
            <th scope="col">{words.weights.name}</th>
            <th scope="col">{words.weights.shape}</th>
            <th scope="col">{words.weights.count}</th>
            <th scope="col">{words.weights.dtype}</th>
          </tr>
        </thead>
        <tbody class="mono">
          {weights.map((weight, index) => (
            <tr key={index} class={index === current ? "current" : ""} aria-selected={index === current} onClick={() => setWanted(index)}>
              <th scope="row"><button class="link mono" aria-pressed={index === current} onClick={() => setWanted(index)}>{weight.name}</button>{!weight.trainable && <span class="quiet"> {words.weights.frozen}</span>}</th>
              <td>{shape(weight.shape)}</td>
              <td>{count(size(weight.shape))}</td>
              <td>{weight.dtype}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <div class="tools spaced">
        <p class="quiet">{words.weights.parameters(count(parameters))}</p>
        <CopyPython text={weightsPython(run.value, stream.value, calls[call]!.path)} />
      </div>
      <WeightMaps path={path} weight={current} />
      <WeightNumbers key={current} layer={layer} weight={current} />
      {shared.length > 1 && (
        <>
          <p class="note">{words.weights.shared(shared.length)}</p>
          <Calls of={shared} but={call} />
        </>
      )}
      {innerOnes}
      <p class="quiet note">{words.weights.addressed} <span class="mono">{path}</span></p>
    </>
  );
}

/** Links to calls; the one that is shown is none. */
function Calls({ of, but }: { of: readonly number[]; but?: number }) {
  return (
    <ul class="calls">
      {of.map((call) => {
        const { path } = graph.value!.calls[call]!;
        const link = <button class="link mono" onClick={() => reveal(call)}>{path}</button>;
        return <li key={call}>{call === but ? <span class="mono strong">{path}</span> : link}</li>;
      })}
    </ul>
  );
}
