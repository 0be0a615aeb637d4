/** Hands the state to the flow picture. */
import { computed } from "@preact/signals";
import { Flow } from "./flow/Flow";
import { count } from "./format";
import { isOlder, thumbnails } from "./maps/shown";
import { words } from "./strings";
import { chosen, graph, held, hovered, openGroups, run, unfolded } from "./state";
import { colourOfCall, marks } from "./values";

const colours = computed(() => graph.value?.calls.map((_, call) => colourOfCall.value.get(call) ?? null) ?? []);

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
        marks={marks}
        thumbnails={thumbnails}
      />
      {isOlder.value && held.value && <span class="stamp flow-stamp" title={words.exact.stampTitle}>{words.exact.stamp(count(held.value.step))}</span>}
    </>
  );
}
