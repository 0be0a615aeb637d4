/** The findings, grouped by rule, the first bad call first; a click goes to the call, the step and the heatmap's cell. */
import { useState } from "preact/hooks";
import { count } from "../format";
import { goToFinding } from "../selection";
import { findings, graph } from "../state";
import { words } from "../strings";
import type { FindingInfo } from "../types";
import { evidenceText } from "./evidence";
import { callOfFinding, groupByRule, type Level, type RuleGroup } from "./places";

/** Of one rule, before `and n more`. */
const SHOWN = 3;

export const Sign = ({ level }: { level: Level }) => (
  <span class={`sign ${level}`} role="img" aria-label={words.findings.levels[level]}>{level === "failure" ? "■" : "▲"}</span>
);

export function FindingsList() {
  return (
    <div class="findings">
      {groupByRule(findings.value ?? []).map((group) => <Group key={group.rule} group={group} />)}
    </div>
  );
}

function Group({ group }: { group: RuleGroup }) {
  const [all, setAll] = useState(false);
  const shown = all ? group.findings : group.findings.slice(0, SHOWN);
  const more = group.findings.length - shown.length;
  return (
    <section>
      <h4>
        <Sign level={group.level} /> {words.findings.rules[group.rule] ?? group.rule.replaceAll("_", " ")}
        {group.findings.length > 1 && <span class="quiet"> {count(group.findings.length)}</span>}
      </h4>
      <ul>
        {shown.map((finding) => <Item key={`${finding.path} ${finding.step} ${finding.message}`} finding={finding} />)}
      </ul>
      {more > 0 && <button class="link more" onClick={() => setAll(true)}>{words.findings.more(more)}</button>}
    </section>
  );
}

function Item({ finding }: { finding: FindingInfo }) {
  const known = callOfFinding(finding, graph.value) !== null;
  return (
    <li data-finding={finding.rule} data-path={finding.path} data-step={finding.step}>
      <button class="finding" title={words.findings.go} onClick={() => goToFinding(finding, true)}>
        {sentence(finding)}
      </button>
      <p class="quiet">
        <span class="mono">{words.findings.firstSeen(count(finding.step))}</span>
        {evidenceText(finding.evidence).map((text) => <span key={text}> · {text}</span>)}
        {known && <> · <button class="link" onClick={() => goToFinding(finding, false)}>{words.findings.inFlow}</button></>}
      </p>
    </li>
  );
}

/** A sentence begins with a capital, but the name of a call stays as it is. */
function sentence({ message, path }: FindingInfo): string {
  return message.startsWith(path) ? message : `${message[0]?.toUpperCase() ?? ""}${message.slice(1)}`;
}

/** What was found about one call, under its name. */
export function FindingsOfCall({ call }: { call: number }) {
  const own = (findings.value ?? []).filter((finding) => callOfFinding(finding, graph.value) === call);
  return (
    <>
      {own.slice(0, SHOWN).map((finding) => (
        <p class="sentence" key={finding.rule + finding.message}>
          <Sign level={finding.level} /> {sentence(finding)}{" "}
          <button class="link nowrap" onClick={() => goToFinding(finding, false)}>{words.bar.step(count(finding.step))}</button>
        </p>
      ))}
    </>
  );
}
