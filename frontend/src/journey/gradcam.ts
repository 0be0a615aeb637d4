/**
 * Grad-CAM (Selvaraju et al., 2017) from a recorded output A and its error ∂L/∂A: ReLU(Σₖ αₖ Aₖ), αₖ = −mean of ∂L/∂Aₖ over the
 * positions. A falling loss stands in the place of a rising class score. Pure.
 */
import type { Numbers } from "../binary";

export function gradCam(maps: readonly Numbers[], errors: readonly Numbers[]): Float32Array {
  const size = maps[0]?.length ?? 0;
  const sum = new Float64Array(size);
  maps.forEach((map, k) => {
    const error = errors[k]!;
    let alpha = 0;
    for (let i = 0; i < size; i++) alpha -= error[i]!;
    alpha /= size;
    for (let i = 0; i < size; i++) sum[i]! += alpha * map[i]!;
  });
  return Float32Array.from(sum, (value) => Math.max(0, value));
}

/** The largest share is 1; nothing but zeros stays zero. */
export function normalised(map: Float32Array): Float32Array {
  const most = map.reduce((largest, value) => Math.max(largest, value), 0);
  return most > 0 ? map.map((value) => value / most) : map;
}
