/** Graphs for the tests of graph/ and flow/, built call by call as the plugin would answer them. Not part of the page. */

import type { CallInfo, GraphInfo, PortInfo } from "../types";

export function port(shape: number[] | null, source: [number, number] | null = null, key = ""): PortInfo {
  return { key, shape, dtype: "float32", kind: "", source, status: "", error: "" };
}

/** Builds a graph in the order in which calls begin; a path's last part is the layer's name. */
export class GraphMaker {
  readonly calls: CallInfo[] = [];
  private readonly layers = new Map<string, number>();
  private readonly types: string[] = [];

  add(path: string, type: string, parent: number | null, sources: (number | null)[], shape: number[] | null = [-1, 8], kind: CallInfo["kind"] = "layer"): number {
    const layerPath = path.split("/").map((part) => part.split("#")[0]).join("/");
    const name = layerPath.split("/").at(-1)!;
    let layer: number | null = null;
    if (kind === "layer") {
      layer = this.layers.get(layerPath) ?? this.layers.size;
      this.layers.set(layerPath, layer);
      this.types[layer] = type;
    }
    const inputs = sources.map((source) => port(source === null ? null : this.calls[source]!.outputs[0]!.shape, source === null ? null : [source, 0]));
    return this.calls.push({ path, name, type, kind, layer, parent, inputs, outputs: [port(shape)], status: "", repeats: 0, failed: false, flops: null, output_bytes: null }) - 1;
  }

  /** A group's output is what an inner call made. */
  passOn(group: number, inner: number): void {
    this.calls[group]!.outputs = [port(this.calls[inner]!.outputs[0]!.shape, [inner, 0])];
  }

  graph(model = "model"): GraphInfo {
    const layers = [...this.layers.keys()].map((path, index) => ({
      path, name: path.split("/").at(-1)!, type: this.types[index]!, called: true, trainable: true, access: "", data_format: "", weights: [], parameters: 0,
    }));
    return { schema: 1, model, session: "s", trace: 0, layers, calls: this.calls, execution: {} as GraphInfo["execution"], class_names: [], backward_names: [], error_kinds: [] };
  }
}

/** Keras Applications' MobileNet, layer by layer as its paper's table 1 has them, on square images. */
export function mobilenet(size = 160, alpha = 0.25): GraphInfo {
  const make = new GraphMaker();
  const root = make.add(".", "Functional", null, []);
  let last = make.add("input_layer", "Input", root, [], [-1, size, size, 3], "input");
  let side = size;
  const chain = (name: string, type: string, shape: number[]): void => { last = make.add(name, type, root, [last], [-1, ...shape]); };
  const rest = (name: string, channels: number): void => {
    chain(`${name}_bn`, "BatchNormalization", [side, side, channels]);
    chain(`${name}_relu`, "ReLU", [side, side, channels]);
  };
  side /= 2;
  let channels = 32 * alpha;
  chain("conv1", "Conv2D", [side, side, channels]);
  rest("conv1", channels);
  const filters = [64, 128, 128, 256, 256, 512, 512, 512, 512, 512, 512, 1024, 1024];
  filters.forEach((wide, index) => {
    const block = index + 1;
    if ([2, 4, 6, 12].includes(block)) {
      chain(`conv_pad_${block}`, "ZeroPadding2D", [side + 1, side + 1, channels]);
      side /= 2;
    }
    chain(`conv_dw_${block}`, "DepthwiseConv2D", [side, side, channels]);
    rest(`conv_dw_${block}`, channels);
    channels = wide * alpha;
    chain(`conv_pw_${block}`, "Conv2D", [side, side, channels]);
    rest(`conv_pw_${block}`, channels);
  });
  chain("global_average_pooling2d", "GlobalAveragePooling2D", [1, 1, channels]);
  chain("dropout", "Dropout", [1, 1, channels]);
  chain("conv_preds", "Conv2D", [1, 1, 10]);
  chain("reshape_2", "Reshape", [10]);
  chain("predictions", "Activation", [10]);
  make.passOn(root, last);
  return make.graph("mobilenet");
}

/** One encoder called on two inputs, `first_dense` inside, its two codes joined. */
export function siamese(): GraphInfo {
  const make = new GraphMaker();
  const root = make.add(".", "Functional", null, []);
  const left = make.add("left", "Input", root, [], [-1, 24, 24, 1], "input");
  const right = make.add("right", "Input", root, [], [-1, 24, 24, 1], "input");
  const encode = (path: string, input: number): number => {
    const group = make.add(path, "Functional", root, [input]);
    const a = make.add(`${path}/conv1`, "Conv2D", group, [input], [-1, 24, 24, 16]);
    const b = make.add(`${path}/conv2`, "Conv2D", group, [a], [-1, 12, 12, 32]);
    const c = make.add(`${path}/conv3`, "Conv2D", group, [b], [-1, 6, 6, 32]);
    const d = make.add(`${path}/pool`, "GlobalAveragePooling2D", group, [c], [-1, 32]);
    const e = make.add(`${path}/first_dense`, "Dense", group, [d], [-1, 64]);
    make.passOn(group, e);
    return group;
  };
  const first = encode("encoder", left);
  const second = encode("encoder#1", right);
  const join = make.add("join", "Concatenate", root, [first, second], [-1, 128]);
  const dense = make.add("last_dense", "Dense", root, [join], [-1, 32]);
  const same = make.add("same", "Dense", root, [dense], [-1, 1]);
  make.passOn(root, same);
  return make.graph("siamese");
}
