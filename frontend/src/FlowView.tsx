/** Hands the state to the flow picture. */
import { computed } from "@preact/signals";
import { Flow } from "./flow/Flow";
import type { Thumbnail } from "./flow/props";
import { chosen, graph, hovered, openGroups, run, unfolded } from "./state";
import { colourOfCall, marks } from "./values";

const colours = computed(() => graph.value?.calls.map((_, call) => colourOfCall.value.get(call) ?? null) ?? []);
/** Exact values come with a later record kind: until then cards give the room to their text. */
const thumbnails = computed<Thumbnail | null>(() => null);

export function FlowView() {
  const calls = graph.value;
  if (!calls) return null;
  return (
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
  );
}
