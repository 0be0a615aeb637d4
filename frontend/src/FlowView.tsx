/** Hands the state to the flow picture. */
import { computed } from "@preact/signals";
import { Flow } from "./flow/Flow";
import type { TailCard } from "./flow/props";
import { count } from "./format";
import { isOlder, thumbnails } from "./maps/shown";
import { words } from "./strings";
import { buckets, chosen, focus, graph, held, hovered, openGroups, run, unfolded } from "./state";
import { showBucket } from "./selection";
import { colourOfCall, marks } from "./values";
import { lineageWords } from "./words/lineage";

const colours = computed(() => graph.value?.calls.map((_, call) => colourOfCall.value.get(call) ?? null) ?? []);

/** The operations that belong to no call, by bucket; empty buckets are left out. */
const tail = computed<TailCard[]>(() =>
  Object.entries(buckets.value).filter(([, ops]) => ops > 0).map(([key, ops]) => ({
    key,
    name: lineageWords.buckets[key] ?? key,
    count: lineageWords.opsShort(count(ops)),
    chosen: focus.value?.kind === "bucket" && focus.value.name === key,
    pick: () => showBucket(key),
  })),
);

export function FlowView() {
  const calls = graph.value;
  if (!calls) return null;
  return (
    <>
      <Flow
        graph={calls}
        title={calls.model || run.value}
        colours={colours}
        chosen={chosen}
        hovered={hovered}
        open={openGroups}
        unfolded={unfolded}
        tail={tail}
        marks={marks}
        thumbnails={thumbnails}
      />
      {isOlder.value && held.value && <span class="stamp flow-stamp" title={words.exact.stampTitle}>{words.exact.stamp(count(held.value.step))}</span>}
    </>
  );
}
