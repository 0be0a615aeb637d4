/** Every word of the page, the larger subjects in words/. Knows no state: what varies comes in as an argument. */
import { ordinal, plural } from "./words/counting";
import { exactWords } from "./words/exact";
import { inspectorWords } from "./words/inspector";
import { pictureWords } from "./words/picture";

export { ordinal } from "./words/counting";

const KIND_NAMES: Record<string, string> = {
  output: "output",
  input: "input",
  error: "error ∂L/∂output",
  weight: "weight",
  weight_gradient: "weight gradient",
  update: "update",
  ratio: "ratio of l2",
  losses: "layer loss",
};

const COLUMN_NAMES: Record<string, string> = {
  count: "count",
  mean: "mean",
  l2: "l2",
  min: "min",
  max: "max",
  finite: "finite",
  std: "std",
  zero: "zeros",
  nan: "NaN",
  pos_inf: "+Inf",
  neg_inf: "−Inf",
};

/** A kind as people read it: `error#1` is the error of the second backward pass, `error:generator` of the one so named. */
export function kindName(kind: string): string {
  const known = KIND_NAMES[kind];
  if (known) return known;
  if (kind.startsWith("error:")) return `error ∂L/∂output of ${kind.slice(6)}`;
  if (kind.startsWith("error#")) return `error ∂L/∂output, ${ordinal(Number(kind.slice(6)) + 1)} backward pass`;
  return kind.replaceAll("_", " ");
}

/** The short form, for buttons and table heads. */
export function kindShort(kind: string): string {
  return kind.startsWith("error") ? kind : (KIND_NAMES[kind] ?? kind.replaceAll("_", " "));
}

/** `update/weight`, `readout.accuracy` and the columns of statistics as people read them. */
export function columnName(column: string): string {
  const [over, under] = column.split("/") as [string, string?];
  if (under) return `${over.replaceAll("_", " ")} / ${under}`;
  return COLUMN_NAMES[column] ?? column.replace(".", " ");
}

/** Why there is no number: the statuses of the log, each as a sentence. What is not listed is shown as it was written. */
const STATUS_SENTENCES: Record<string, string> = {
  integer: "No error: the output holds integers, and these have no gradient.",
  "not connected": "No error: the loss does not depend on this output.",
  stopped: "No error: the gradient was stopped before it reached this output.",
  "at the logits": "The loss reads the logits and passes this output by: its error is shown at the logits.",
  "inside a loop": "Inside a loop: its tensors cannot leave it, so only the structure is recorded.",
  "not selected": "Not recorded: left out by layers=…",
  "not reached": "No error: no backward pass reached this output.",
  "not recorded": "Not recorded at this step.",
};

export function statusSentence(status: string): string {
  return STATUS_SENTENCES[status] ?? (/[.!?]$/.test(status) ? status : `${status[0]?.toUpperCase() ?? ""}${status.slice(1)}.`);
}

export const words = {
  ...inspectorWords,
  ...pictureWords,
  exact: exactWords,
  product: "LayerFlow",

  bar: {
    run: "Run",
    stream: "Stream",
    play: "Play over the steps",
    pause: "Pause",
    slider: "Step",
    step: (step: string) => `step ${step}`,
    epoch: (epoch: string) => `epoch ${epoch}`,
    record: (index: number, of: number) => `record ${index} of ${of}`,
    seam: (step: string) => `resumed at step ${step}`,
    views: "View",
    colour: "colour",
    colourBy: "Colour by",
    colourSearch: "Kind or column",
    nothingFound: "Nothing of that name.",
    search: "Search calls, operations and lines",
    searchPlaceholder: "Call, op, line",
    runs: "runs",
    execution: "How the step executes",
    share: "Share",
    shareTitle: "Copy a link to what you see",
    shared: "Copied",
    help: "Keys",
    theme: { auto: "Theme: as TensorBoard", light: "Theme: light", dark: "Theme: dark" },
    outline: "Outline",
    inspector: "Details",
    records: (count: number) => plural(count, "record"),
  },

  views: { flow: "Flow", journey: "Journey", maps: "Maps" } as Record<string, string>,

  execution: {
    traced: "traced",
    eager: "eager",
    compiled: "compiled",
    retraced: (times: number) => `retraced ${times}×`,
    jit: "compiled by XLA",
    replicas: (count: number) => plural(count, "replica"),
    traceSeconds: (seconds: string) => `tracing took ${seconds}`,
    xla: "XLA",
    noJit: "no",
    perExecution: "steps per execution",
    optimizer: "optimizer",
    loss: "loss",
    policy: "dtype policy",
    strategy: "strategy",
    devices: "devices",
    family: "Keras",
    tensorflow: "TensorFlow",
    mode: "mode",
    function: "function",
    traces: "traces",
    retraces: "retraced because",
    runs: "runs",
    variants:
      "A step is traced up to three times: as it is, recorded with statistics, and recorded with exact values too. Each is traced when it first " +
      "runs. That is meant; only what is listed as retraced was traced again.",
    eagerly:
      "run_eagerly is set: this model's step runs line by line. It does not affect tf.data pipelines, nor what is a tf.function by itself: for " +
      "those there is tf.config.run_functions_eagerly.",
    notEagerly:
      "run_eagerly is not set: Python ran once per trace, and the graph runs at each step. compile(run_eagerly=True) would run this model's " +
      "step line by line, but neither tf.data pipelines nor what is a tf.function by itself.",
  },

  findings: {
    label: "Findings",
    count: (count: number) => plural(count, "finding"),
    levels: { failure: "failure", warning: "warning" },
    rules: {
      non_finite: "Non-finite numbers",
      loss_scaler_skips: "Steps skipped by the loss scaler",
      exploding_errors: "Exploding errors",
      vanishing_errors: "Vanishing errors",
      disconnected: "Disconnected from the loss",
      dead_units: "Dead units",
      saturated: "Saturated activations",
      constant: "Constant outputs",
      poor_initialisation: "Poor initialisation",
      unchanged_weights: "Weights that do not change",
      update_too_large: "Updates too large",
      update_too_small: "Updates too small",
      worse_readout: "Worse readout than its input's",
      loss_does_not_fall: "Loss does not fall",
    } as Record<string, string>,
    /** Where the name of what was compared is not a word for people. */
    evidence: { zero: "share of zeros", limit: "limit", "last good record": "last good record at step" } as Record<string, string>,
    firstSeen: (step: string) => `first seen at step ${step}`,
    go: "Go to the call, the step and its cell of the heatmap",
    inFlow: "in the flow",
    more: (count: number) => `and ${count} more`,
    show: "show",
    hide: "hide",
    none: "Nothing found.",
    mark: (level: string, step: string) => `${level} first seen at step ${step}`,
  },

  empty: {
    title: "No LayerFlow records here yet",
    lines: "Two lines start recording:",
    code: (folder: string) =>
      `import tb_layerflow as layerflow\nmodel.fit(x, y, callbacks=[layerflow.LayerFlow("${folder}")])`,
    after: "This page looks again every few seconds.",
    noRecords: (stream: string) => `The stream ${stream} has no record yet.`,
    noStream: "This run has no stream yet.",
    cannotLoad: (stream: string) => `The stream ${stream} cannot be loaded.`,
    loading: "Loading…",
    retry: "Try again",
  },

  missing: {
    run: (run: string, shown: string) => `There is no run “${run}”: “${shown}” is shown.`,
    stream: (stream: string, run: string, shown: string) => `The run “${run}” has no stream “${stream}”: “${shown}” is shown.`,
  },

  help: {
    title: "Keys",
    close: "Close",
    keys: [
      ["← →", "earlier or later step"],
      ["Shift ← →", "ten steps"],
      ["Home  End", "first or newest step"],
      ["Space", "play over the steps"],
      ["1", "Flow"],
      ["2", "Journey: one sample through the model"],
      ["3", "Maps: exact values at full width"],
      ["H", "heatmap: calls × steps"],
      ["Drag", "in the heatmap: zoom into these steps"],
      ["Ctrl wheel", "in the heatmap: zoom, Shift wheel moves"],
      ["Shift click", "compare a call with the chosen one"],
      ["/", "search calls, operations and lines"],
      ["C", "colour by"],
      ["R", "run"],
      ["S", "copy the link"],
      ["D", "light or dark"],
      ["↑ ↓", "in the outline: call above or below"],
      ["← →", "in the outline: close or open a group"],
      ["Enter", "choose the call"],
      ["Esc", "close what is open, then choose nothing"],
      ["?", "this list"],
    ] as const,
    signs: "Signs",
    meanings: [
      ["hatched", "no value; of a map, 0 everywhere"],
      ["no colour", "exactly 0, on a logarithmic scale"],
      ["dashed edge", "operations of no layer lie between"],
      ["+1", "calls that ride on this card"],
      ["layer range", "one range of colours for all its maps"],
    ] as const,
  },

  failures: {
    unreachable: "TensorBoard does not answer. Is it still running?",
    status: (status: number) => `TensorBoard answered with status ${status}.`,
  },
};
