/** Decodes the plugin's binary answers into views on the buffer they came in. Pure; mirrors tb_layerflow/plugin/binary.py. */

export type Numbers = Float32Array | Float64Array | Int32Array | Uint32Array | Uint8Array;

export interface BinaryAnswer {
  header: Record<string, unknown>;
  arrays: ReadonlyMap<string, Numbers>;
  shapes: ReadonlyMap<string, number[]>;
}

interface ArrayEntry {
  name: string;
  dtype: string;
  shape: number[];
  offset: number;
}

const VIEWS = {
  float32: Float32Array,
  float64: Float64Array,
  int32: Int32Array,
  uint32: Uint32Array,
  uint8: Uint8Array,
  bool: Uint8Array,
} as const;

/**
 * `uint32 header length | JSON header | zero padding to 8 | arrays`, all little-endian. The views share `buffer`: nothing is copied.
 * Throws a sentence when the answer is cut short or holds a dtype that this page does not know.
 */
export function decode(buffer: ArrayBuffer): BinaryAnswer {
  if (buffer.byteLength < 4) throw new Error(`A binary answer has at least 4 bytes. Received: ${buffer.byteLength}.`);
  const length = new DataView(buffer).getUint32(0, true);
  if (4 + length > buffer.byteLength) {
    throw new Error(`The answer's header should have ${length} bytes, but only ${buffer.byteLength - 4} arrived.`);
  }
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length))) as Record<string, unknown>;
  const arrays = new Map<string, Numbers>();
  const shapes = new Map<string, number[]>();
  for (const { name, dtype, shape, offset } of (header.arrays ?? []) as ArrayEntry[]) {
    const View = VIEWS[dtype as keyof typeof VIEWS];
    if (!View) throw new Error(`The array ${name} has the dtype ${dtype}, which this page does not know. Reload it.`);
    const size = shape.reduce((product, dimension) => product * dimension, 1);
    if (offset + size * View.BYTES_PER_ELEMENT > buffer.byteLength) {
      throw new Error(`The array ${name} is cut short: ${buffer.byteLength} bytes arrived.`);
    }
    arrays.set(name, new View(buffer, offset, size));
    shapes.set(name, shape);
  }
  return { header, arrays, shapes };
}
