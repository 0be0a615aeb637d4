/** One variable of a layer and its gradient as pictures: every kernel a map, a matrix one map. */
import { useState } from "preact/hooks";
import { Segment } from "../bar/TopBar";
import { heldTensor, whyNot } from "../exact";
import { MapPane } from "../maps/MapPane";
import { RangeAndOrder } from "../maps/MapTools";
import { held } from "../state";
import { statusSentence } from "../strings";
import { trainingWords } from "../words/training";
import { Stamp } from "./Values";

export function WeightMaps({ path, weight }: { path: string; weight: number }) {
  const [wanted, setWanted] = useState("weight");
  const at = held.value;
  if (!at) return null;
  const { kinds: names, pictures } = trainingWords.weights;
  const kinds = Object.keys(names).filter((kind) => heldTensor(at, path, kind, weight));
  const kind = kinds.includes(wanted) ? wanted : kinds[0];
  if (!kind) return <p class="quiet note">{statusSentence(whyNot(at, path, "weight", weight))}</p>;
  const { shape } = heldTensor(at, path, kind, weight)!.value;
  // Their order by input and output channel says more than by activity.
  return (
    <>
      <div class="tools wrap">
        <Segment label={pictures} entries={kinds.map((key) => ({ key, name: names[key] }))} current={kind} onPick={setWanted} />
        <RangeAndOrder many={false} />
        <Stamp held={at} />
      </div>
      <MapPane held={at} path={path} kind={kind} port={weight} edge={Math.min(52, Math.max(14, 7 * (shape.at(-3) ?? 0)))} />
    </>
  );
}
