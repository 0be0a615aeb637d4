/** Which calls work on channels first: as their layers say, else as what they take, else as what takes theirs. Pure. */
import type { GraphInfo } from "../types";

export function channelsFirstCalls(graph: GraphInfo): ReadonlySet<number> {
  const format = graph.calls.map(({ layer }) => (layer === null ? "" : graph.layers[layer]!.data_format));
  const takes = graph.calls.map(({ inputs }) => inputs.map(({ source }) => source?.[0]).filter((call) => call !== undefined));
  takes.forEach((sources, call) => (format[call] ||= sources.map((source) => format[source]).find(Boolean) ?? ""));
  for (let call = takes.length - 1; call >= 0; call--) {
    for (const source of takes[call]!) format[source] ||= format[call]!;
  }
  return new Set(format.flatMap((each, call) => (each === "channels_first" ? [call] : [])));
}
