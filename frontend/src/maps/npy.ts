/** Writes numpy's `.npy` (format 1.0) in the tensor's own dtype. Pure. bfloat16, which numpy lacks, is written as float32. */
import type { Numbers } from "../binary";

const CODES: Record<string, string> = {
  float16: "<f2", float32: "<f4", float64: "<f8", bfloat16: "<f4", bool: "|b1", int8: "|i1", uint8: "|u1", int16: "<i2", uint16: "<u2",
  int32: "<i4", uint32: "<u4", int64: "<i8", uint64: "<u8",
};

/** The bits of a float16 for a number that is one. */
export function halfBits(value: number): number {
  const word = new Uint32Array(Float32Array.of(value).buffer)[0]!;
  const sign = (word >>> 16) & 0x8000;
  const exponent = ((word >>> 23) & 0xff) - 112;
  const mantissa = word & 0x7fffff;
  if (exponent >= 143) return sign | 0x7c00 | (mantissa ? 0x200 | (mantissa >>> 13) : 0);
  if (exponent >= 31) return sign | 0x7c00;
  if (exponent > 0) return sign | (exponent << 10) | (mantissa >>> 13);
  return exponent < -10 ? sign : sign | ((mantissa | 0x800000) >>> (14 - exponent));
}

function bytesOf(values: Numbers, dtype: string): ArrayBufferView {
  const list = values as ArrayLike<number>;
  switch (dtype) {
    case "float16": return Uint16Array.from(list, halfBits);
    case "float64": return Float64Array.from(list);
    case "bool": case "uint8": return Uint8Array.from(list);
    case "int8": return Int8Array.from(list);
    case "int16": return Int16Array.from(list);
    case "uint16": return Uint16Array.from(list);
    case "int32": return Int32Array.from(list);
    case "uint32": return Uint32Array.from(list);
    case "int64": return BigInt64Array.from(Array.from(list, BigInt));
    case "uint64": return BigUint64Array.from(Array.from(list, BigInt));
    default: return Float32Array.from(list);
  }
}

export function toNpy(values: Numbers, shape: readonly number[], dtype: string): Uint8Array<ArrayBuffer> {
  const tuple = shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(", ")})`;
  const facts = `{'descr': '${CODES[dtype] ?? "<f4"}', 'fortran_order': False, 'shape': ${tuple}, }`;
  const header = facts.padEnd(Math.ceil((facts.length + 11) / 64) * 64 - 11, " ") + "\n";
  const bytes = bytesOf(values, dtype);
  const file = new Uint8Array(10 + header.length + bytes.byteLength);
  file.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, header.length & 255, header.length >> 8]);
  file.set(new TextEncoder().encode(header), 10);
  file.set(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength), 10 + header.length);
  return file;
}
