/** The shapes of the plugin's JSON answers, as `tb_layerflow/plugin/http_api.md` states them. Knows no fetching and no drawing. */

export interface PortInfo {
  /** Key path in the call's structure, `head/box`; empty for a single tensor. */
  key: string;
  /** Batch axis first, -1 where a dimension is unknown; null where the rank is. */
  shape: number[] | null;
  dtype: string;
  /** Empty for a dense tensor, else `logits`, `ragged`, `sparse`, `none` or `object`. */
  kind: string;
  /** Input: the output [call, port] that it is. Output of a group: the inner output that it passes on. */
  source: [number, number] | null;
  /** Input without a source: the outputs [call, port] from which plain operations computed it. Absent where there are none. */
  derived?: [number, number][];
  /** Why the port has no statistics; empty where it has. */
  status: string;
  /** Why the port has no error; empty where it has. */
  error: string;
}

export interface CallInfo {
  path: string;
  name: string;
  type: string;
  kind: "layer" | "operation" | "input" | "tap" | "function";
  /** Index into `layers`. */
  layer: number | null;
  /** Index into `calls`. */
  parent: number | null;
  inputs: PortInfo[];
  outputs: PortInfo[];
  status: string;
  repeats: number;
  failed: boolean;
  /** Floating-point operations of its forward pass with the calls inside it, and the bytes of its outputs: of the whole batch, of one sample where its size is not known. */
  flops: number | null;
  output_bytes: number | null;
}

export interface WeightInfo {
  name: string;
  shape: number[];
  dtype: string;
  trainable: boolean;
}

export interface LayerInfo {
  path: string;
  name: string;
  type: string;
  called: boolean;
  trainable: boolean;
  access: string;
  /** `channels_first`, `channels_last`, or empty where the layer does not say. */
  data_format: string;
  weights: WeightInfo[];
  parameters: number;
}

export interface Execution {
  mode: string;
  run_eagerly: boolean;
  jit_compile: boolean;
  steps_per_execution: number;
  strategy: string;
  replicas: number;
  devices: string[];
  dtype_policy: string;
  family: string;
  keras_version: string;
  tensorflow_version: string;
  optimizer: string;
  trace_seconds: number;
  traces: number;
  retraces: string[];
  function: string;
  loss: string;
}

export interface GraphInfo {
  schema: number;
  model: string;
  session: string;
  trace: number;
  layers: LayerInfo[];
  calls: CallInfo[];
  execution: Execution;
  class_names: string[];
  backward_names: string[];
  error_kinds: string[];
}

export interface StreamInfo {
  stream: string;
  records: number;
  written: number;
  first_step: number | null;
  last_step: number | null;
  sessions: { session: string; start: number; records: number }[];
  model: string;
  problem: string;
}

export interface RunInfo {
  run: string;
  streams: StreamInfo[];
}

export interface StreamsInfo {
  runs: RunInfo[];
  /** The folder that TensorBoard was started on; empty where it knows none, absent from an older plugin. */
  logdir?: string;
  schema: number;
  problem: string;
}

export interface HistogramInfo {
  step: number;
  edges: number[];
  counts: number[];
  zero: number;
  nan: number;
  pos_inf: number;
  neg_inf: number;
  sampled_from: { part: number; total: number; stride: number };
}

/** A diagnosis: `step` is the first record that shows it. */
export interface FindingInfo {
  rule: string;
  level: "failure" | "warning";
  /** A call's path, a layer's where the rule is about weights, `.` the model's. */
  path: string;
  /** Index into the newest graph's calls. */
  call: number | null;
  step: number;
  message: string;
  /** What the rule compared, and its limits, by name. */
  evidence: Record<string, unknown>;
}

export interface LedgerEntry {
  path: string;
  kind: string;
  port: number;
  status: string;
  reason: string;
  step: number;
}
