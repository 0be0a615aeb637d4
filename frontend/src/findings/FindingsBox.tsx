/** The box at the outline's foot: how much was found, and the findings themselves. Absent where nothing is wrong. */
import { findings, findingsOpen } from "../state";
import { words } from "../strings";
import { FindingsList, Sign } from "./FindingsList";
import { worstLevel } from "./places";

export function FindingsBox() {
  const found = findings.value ?? [];
  const level = worstLevel(found.map((finding) => finding.level));
  if (!level) return null;
  const open = findingsOpen.value;
  return (
    <section class="findings-box" aria-label={words.findings.label}>
      <button class="findings-title" aria-expanded={open} onClick={() => (findingsOpen.value = !open)}>
        <Sign level={level} /> <span class="strong">{words.findings.count(found.length)}</span>
        <span class="spring" />
        <span class="quiet">{open ? words.findings.hide : words.findings.show}</span>
      </button>
      {open && <FindingsList />}
    </section>
  );
}
