/** The Python text that reaches in the reader what the page shows, and prints it. Knows of the state only which folder that is. */
import { streams } from "../state";

/** A Python string literal; JSON's escapes are Python's too. */
const quote = (text: string) => JSON.stringify(text);

/** `port=1` and the like, left out where they are the default. */
function extras(parts: Record<string, string | number>, defaults: Record<string, string | number>): string {
  return Object.entries(parts)
    .filter(([name, value]) => value !== defaults[name])
    .map(([name, value]) => `, ${name}=${typeof value === "string" ? quote(value) : value}`)
    .join("");
}

export function openPython(run: string, stream: string): string {
  const folder = streams.value?.logdir;
  return `import tb_layerflow as layerflow\n\nlog = layerflow.reader.LogDir(${folder ? quote(folder) : "log_dir"})\nstream = log.run(${quote(run)}).stream(${quote(stream)})`;
}

export function seriesPython(run: string, stream: string, path: string, kind: string, column: string, port: number): string {
  const place = extras({ port }, { port: 0 });
  const table = `statistics = stream.statistics(${quote(kind)})`;
  return `${openPython(run, stream)}\n${table}\nsteps, values = statistics.series(${quote(path)}, ${quote(column)}${place})\nprint(steps, values)`;
}

/** Of a call's path, or of a line `model.py:42`. */
export function opsPython(run: string, stream: string, place: string): string {
  if (/\.py:\d+$/.test(place)) return `${openPython(run, stream)}\ncalls = stream.calls_of(${quote(place)})\nprint(*calls, sep="\\n")`;
  return `${openPython(run, stream)}\nchain = stream.chain(${quote(place)})\nops = stream.ops(${quote(place)})\nprint(*chain, *ops, sep="\\n")`;
}

export function bucketPython(run: string, stream: string, bucket: string): string {
  return `${openPython(run, stream)}\nops = stream.ops(bucket=${quote(bucket)})\nprint(*ops, sep="\\n")`;
}

export function weightsPython(run: string, stream: string, path: string): string {
  return `${openPython(run, stream)}\nweights = stream.graph.find(${quote(path)})[0].weights\nprint(*weights, sep="\\n")`;
}

export function histogramPython(run: string, stream: string, path: string, kind: string, port: number, step: number): string {
  const place = extras({ kind, port, step }, { kind: "output", port: 0 });
  return `${openPython(run, stream)}\nhistogram = stream.histogram(${quote(path)}${place})\nprint(histogram)`;
}

export function valuePython(run: string, stream: string, path: string, kind: string, port: number, step: number, slices: string): string {
  const place = extras({ kind, port, step }, { kind: "output", port: 0 });
  return `${openPython(run, stream)}\nvalue = stream.value(${quote(path)}${place})${slices}\nprint(value)`;
}
