/** Every word of the page. Knows no state: what varies comes in as an argument. */
import { exactWords } from "./words/exact";

const plural = (count: number, one: string, many = `${one}s`) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

const ORDINALS = ["th", "st", "nd", "rd"];
/** 1st, 2nd, 3rd, 11th, 22nd. */
export function ordinal(n: number): string {
  const tens = n % 100;
  return n + (tens > 10 && tens < 20 ? "th" : (ORDINALS[n % 10] ?? "th"));
}

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
  exact: exactWords,
  product: "LayerFlow",

  bar: {
    run: "Run",
    stream: "Stream",
    play: "Play over the steps",
    pause: "Pause",
    slider: "Step",
    previous: "Earlier step",
    next: "Later step",
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
    eagerly:
      "run_eagerly is set: this model's step runs line by line. It does not affect tf.data pipelines, nor what is a tf.function by itself: for " +
      "those there is tf.config.run_functions_eagerly.",
    notEagerly:
      "run_eagerly is not set: Python ran once per trace, and the graph runs at each step. compile(run_eagerly=True) would run this model's " +
      "step line by line, but neither tf.data pipelines nor what is a tf.function by itself.",
  },

  outline: {
    label: "Calls",
    filter: "Filter calls",
    calls: (calls: number) => plural(calls, "call"),
    overSteps: "over steps",
    rows: "Rows of the heatmap",
    groupings: { tree: "rows as folded", calls: "every call", types: "by layer type" },
    zoomHint: "drag over steps to zoom in, Ctrl + wheel too",
    stretch: (first: string, last: string) => `steps ${first} to ${last}`,
    allSteps: "show all",
    picture: "back to the picture",
    border: "Width of the outline",
    worst: (path: string) => `the worst inside: ${path}`,
    widen: "Widen to the heatmap",
    narrow: "Back to the picture",
    noMatch: (text: string) => `No call matches “${text}”.`,
    health: "Health",
    name: "Name",
    value: "Value",
    strip: "Over the steps",
    failed: "This call raised an error.",
    nonFinite: "Holds NaN or infinities.",
    cell: (name: string, step: string, value: string) => `${name} · step ${step} · ${value}`,
    none: "no value",
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
    nothing: "none",
    firstSeen: (step: string) => `first seen at step ${step}`,
    go: "Go to the call, the step and its cell of the heatmap",
    inFlow: "in the flow",
    more: (count: number) => `and ${count} more`,
    show: "show",
    hide: "hide",
    none: "Nothing found.",
    mark: (level: string, step: string) => `${level} first seen at step ${step}`,
  },

  legend: {
    label: "Legend",
    forms: {
      logarithmic: "logarithmic",
      linear: "linear",
      signed: "signed",
      "signed logarithmic": "signed logarithm",
      "around the median": "around the median",
    },
    wanted: { auto: "as fits", linear: "linear", logarithmic: "logarithmic", diverging: "around the median" } as Record<string, string>,
    scale: "How numbers become colours",
    firstWeight: "of each layer's first weight",
    thisStep: "this step",
    allSteps: "all steps",
    toggle: "Scale: this step or all steps",
    none: "Nothing of this kind was recorded at this step.",
    absent: "no value",
    allZero: "Every number of this kind is 0 or none.",
  },

  flow: {
    label: "Flow of the calls",
    calls: (shown: number, all: number) => `${shown.toLocaleString("en")} of ${plural(all, "call")}`,
    callsAsCards: (calls: number, cards: number) => `${plural(calls, "call")} as ${plural(cards, "card")}`,
    stackNote: "normalisation and activation ride on their layer",
    fit: "fit",
    zoom: (percent: number) => `${percent} %`,
    nthOf: (nth: number, of: number) => `${ordinal(nth)} of ${of} calls`,
    times: (count: number) => `${count}×`,
    repeat: (count: number) => `×${count}`,
    channels: (count: number) => `${count} ch`,
    head: "head",
    input: "input",
    open: "Open",
    close: "Close",
    unfold: "Unfold",
    fold: "Fold",
    minimap: "Minimap",
    cards: "Cards",
    zoomIn: "Zoom in",
    zoomOut: "Zoom out",
    breadcrumb: "Where the chosen call is",
    inside: (calls: number) => plural(calls, "call"),
    riders: (count: number) => `+${count}`,
    derived: (from: string, to: string) => `Operations of no layer computed the input of ${to} from the output of ${from}`,
    ports: (inputs: number, outputs: number) => `${inputs} in · ${outputs} out`,
    failure: "failed",
    warning: "warning",
    opened: "open",
    closed: "closed",
  },

  inspector: {
    label: "Details of the chosen call",
    close: "Close",
    nthOf: (nth: number, of: number) => `${ordinal(nth)} of ${of} calls of `,
    weights: (count: string) => `${count} weights`,
    failed: "This call raised an error while it was recorded.",
    repeats: (count: number) => `Repeated ${count} times in this step: the first and the last are kept.`,
    copy: "copy as Python",
    copied: "copied",
    panels: {
      values: "Values",
      distribution: "Distribution",
      errors: "Errors",
      ops: "Ops",
      weights: "Weights",
      access: "Access",
    } as Record<string, string>,
    group: (calls: number) => `group of ${plural(calls, "call")}`,
  },

  distribution: {
    shape: "shape",
    port: (index: number, key: string) => (key ? `${index} · ${key}` : String(index)),
    elements: "elements",
    from: (part: string, total: string) => `from ${part} of ${total} elements`,
    exact: "from all elements",
    everyKth: (stride: number) => `, every ${ordinal(stride)} position of the first sample`,
    wholeSamples: ", the first whole samples",
    partNote: "so are std, zeros, NaN and Inf",
    zero: "0",
    nan: "NaN",
    posInf: "+Inf",
    negInf: "−Inf",
    bin: (low: string, high: string, count: string, share: string) => `${low} to ${high}: ${count} · ${share}`,
    apart: (what: string, count: string, share: string) => `${what}: ${count} · ${share}`,
    histogram: (kind: string) => `Histogram of the ${kind}`,
    none: "Nothing was recorded of this call at this step.",
    noHistogram: "No histogram was recorded here.",
    isInput: "is the output of",
    passesOn: "passes on that of",
    which: "Histogram of",
    portLabel: "port",
    exactZero: "exactly 0",
    total: (count: string) => `${count} elements counted`,
    axis: "each bar half an octave",
  },

  errors: {
    title: "Error ∂L/∂output over the steps",
    loss: "The model's own loss",
    noError: "No error was recorded for this call.",
    noLoss: "No loss was recorded with this stream.",
    click: "A click goes to the step.",
  },

  weights: {
    none: "This layer has no weights.",
    noLayer: "This call is no layer, so it has no weights.",
    name: "name",
    shape: "shape",
    dtype: "dtype",
    count: "count",
    frozen: "frozen",
    shared: (count: number) => `One set of weights, used by ${count} calls:`,
    parameters: (count: string) => `${count} in all`,
    addressed: "They are addressed by the layer's path:",
  },

  access: {
    layer: "The layer",
    statistics: "Its statistics over the steps",
    histogram: "Its distribution at this step",
    note: "log_dir is the folder that TensorBoard was started on.",
    unreachable: "No Python text is known that reaches this layer from the model: it was found while the model ran.",
  },

  overview: {
    label: "Overview",
    calls: (count: number) => plural(count, "call"),
    weights: (count: string) => `${count} weights`,
    records: (count: string, first: string, last: string) => `${count} records, steps ${first} to ${last}`,
    oneRecord: (step: string) => `1 record, at step ${step}`,
    epochs: (first: string, last: string) => (first === last ? `epoch ${first}` : `epochs ${first} to ${last}`),
    sampledAway: (kept: string, written: string) =>
      `${written} records were written; TensorBoard's sampling kept ${kept}. Start it with --samples_per_plugin layerflow=0,layerflow_statistics=0.`,
    sessions: (count: number) => `${count} sessions: training was resumed or repeated into this folder.`,
    recorded: "Recorded",
    recordedOf: (kinds: string, calls: number) => `${kinds} of ${plural(calls, "call")}`,
    skipped: (count: number) => `${plural(count, "tensor")} skipped, cut or sampled`,
    nothingSkipped: "nothing skipped",
    why: "why",
    hideWhy: "hide",
    cost: "Cost of recording",
    costOf: (percent: string) => `${percent} % of the training time`,
    costPerRecord: (seconds: string, step: string) => `${seconds} a record, beside ${step} a step`,
    costUnknown: "Not measured in this stream.",
    execution: "Execution",
    doors: {
      heatmap: "Where errors shrink",
      largest: "Where the error is largest",
      outputs: "Every call over the steps",
    },
    ledgerStep: (step: string) => `step ${step}`,
    ledgerMore: (count: number) => `and ${count} more`,
    absent: (path: string) => `${path} is not part of this graph.`,
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
  },

  failures: {
    unreachable: "TensorBoard does not answer. Is it still running?",
    status: (status: number) => `TensorBoard answered with status ${status}.`,
  },
};
