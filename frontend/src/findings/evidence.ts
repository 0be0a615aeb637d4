/** A finding's evidence as short texts: `largest ratio 1.2e4`, `limit 1,000`. Pure. */
import { number } from "../format";
import { words } from "../strings";

/** Already said by the finding's own sentence or place. */
const SILENT = new Set(["port", "kind", "weight", "direction"]);

export function evidenceText(evidence: Record<string, unknown>): string[] {
  return Object.entries(evidence)
    .filter(([name, value]) => !SILENT.has(name) && !isEmpty(value))
    .map(([name, value]) => [name, name === "explains" && Array.isArray(value) ? value.map(consequence) : value] as const)
    .map(([name, value]) => `${words.findings.evidence[name] ?? name.replaceAll("_", " ")} ${valueText(value)}`);
}

/** `dead_units · second` as "dead units at second". */
function consequence(text: unknown): string {
  const [rule = "", path = ""] = String(text).split(" · ", 2);
  const named = (words.findings.rules[rule] ?? rule.replaceAll("_", " ")).toLowerCase();
  return path === "" || path === "." ? named : `${named} at ${path}`;
}

/** Says nothing: shown it would be a name without a number. */
function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || value === "" || (Array.isArray(value) && value.length === 0);
}

function valueText(value: unknown): string {
  if (typeof value === "number") return number(value, 3);
  if (Array.isArray(value)) return value.map(valueText).join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
