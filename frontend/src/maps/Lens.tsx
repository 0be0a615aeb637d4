import type { Held } from "../exact";
export function Lens(_: { held: Held }) { return null; }
