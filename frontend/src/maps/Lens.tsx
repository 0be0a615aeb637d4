/** The microscope: how one number of an output came about, and from each of its terms the way to the call that made it. */
import { useEffect, useRef } from "preact/hooks";
import { number } from "../format";
import type { Held } from "../exact";
import { useAnswer } from "../inspector/useAnswer";
import { closeLens, reveal } from "../selection";
import { callIndex, lens } from "../state";
import { statusSentence, words } from "../strings";
import { madeBy } from "../values";
import { fetchExplanation, type Explained, type Term, type TermGroup, type Unexplained } from "../valuesApi";
import { exactText, indexText } from "./exactText";
import { Products } from "./Products";

const said = words.exact.lens;
const SHOWN_GROUPS = 3;
const SHOWN_TERMS = 10;
const SHOWN_BARS = 12;

export interface Walk {
  (term: Term): { label: string; go(): void } | null;
}

export function Lens({ held }: { held: Held }) {
  const at = lens.value;
  const section = useRef<HTMLElement>(null);
  const key = at && JSON.stringify([held.run, held.stream, held.step, at]);
  const { value, problem } = useAnswer(key, () => fetchExplanation({ run: held.run, stream: held.stream, step: held.step, path: at!.path, port: at!.port }, at!.index));
  useEffect(() => { if (value) bringUp(section.current); }, [value]);
  if (!at) return null;
  const call = held.callOf.get(at.path);
  const walk: Walk = ({ port, index }) => {
    const source = call === undefined ? null : madeBy(held.graph.calls, held.graph.calls[call]!.inputs[port]?.source ?? null);
    const path = source && held.graph.calls[source[0]]!.path;
    if (!source || !path) return null;
    return { label: said.walk(path, indexText(index)), go: () => goTo(path, source[1], index) };
  };
  return (
    <section ref={section} class="lens" aria-label={said.title(indexText(at.index))} data-lens={`${at.path} ${at.index.join(",")}`}>
      <div class="tools spaced">
        <h3>{said.title(indexText(at.index))}</h3>
        <button class="icon close" aria-label={said.close} title={said.close} onClick={closeLens}>
          <svg viewBox="0 0 12 12" aria-hidden="true"><path d="m2.5 2.5 7 7m0-7-7 7" /></svg>
        </button>
      </div>
      <p class="quiet note"><button class="link mono" onClick={() => goTo(at.path, at.port, at.index)}>{at.path}</button></p>
      {problem ? <p class="sentence">{statusSentence(problem)}</p> : value ? <Answer value={value} walk={walk} /> : <p class="quiet note">{said.waiting}</p>}
      {value && <Seen held={held} value={value} call={call} />}
    </section>
  );
}

/** Where the answer begins below the panel's middle, it moves up there, so that both the maps and it can be seen. */
function bringUp(section: HTMLElement | null): void {
  const panel = section?.closest(".panel");
  if (!section || !panel) return;
  const [own, around] = [section.getBoundingClientRect(), panel.getBoundingClientRect()];
  const hidden = own.bottom - around.bottom;
  if (hidden > 0) panel.scrollTop += Math.max(0, Math.min(hidden, own.top - around.top - around.height * 0.4));
}

/** Chooses a call and one of its numbers: the next thing in the microscope. */
function goTo(path: string, port: number, index: number[]): void {
  lens.value = { path, port, index };
  const call = callIndex.value.get(path);
  if (call !== undefined) reveal(call);
}

function Answer({ value, walk }: { value: Explained | Unexplained; walk: Walk }) {
  if (!value.explained) {
    return (
      <p class="sentence" data-unexplained>
        <span class="strong">{said.unexplained}</span> {value.reason}
        {value.recorded !== null && <> {said.recorded} <b class="mono">{exactText(value.recorded, "float32")}</b></>}
      </p>
    );
  }
  const isDense = value.groups.every(({ count }) => count === 1);
  return (
    <>
      <p class="formula mono">{value.formula}</p>
      {isDense ? <Terms groups={value.groups} walk={walk} /> : value.groups.slice(0, SHOWN_GROUPS).map((group) => <Products key={`${group.port} ${group.channel}`} group={group} several={severalPorts(value)} walk={walk} />)}
      {value.omitted.count > 0 && <p class="quiet note">{said.moreTerms(value.omitted.count, number(value.omitted.sum))}</p>}
      <Sum value={value} />
      {!isDense && value.groups.length > SHOWN_GROUPS && <Bars value={value} />}
      {value.quantities.length > 0 && (
        <dl class="fact-row">{value.quantities.map(([name, quantity]) => <div key={name}><dt>{name}</dt><dd class="mono">{number(quantity, 5)}</dd></div>)}</dl>
      )}
      {value.note && <p class="quiet note">{value.note}</p>}
      {value.reason && <p class="quiet note">{value.reason}</p>}
      {value.steps.length > 0 && (
        <details>
          <summary>{said.steps}</summary>
          {value.steps.map((step, i) => <div class="step" key={i}><p class="quiet note">{step.type}</p><Answer value={step} walk={() => null} /></div>)}
        </details>
      )}
    </>
  );
}

const severalPorts = (value: Explained) => new Set(value.groups.map(({ port }) => port)).size > 1;

/** The sum beside the recorded number. */
function Sum({ value }: { value: Explained }) {
  const { combine, bias, pre_activation: before, activation, total, recorded, difference } = value;
  const products = combine === "sum" ? before - (bias ?? 0) : before;
  return (
    <p class="sum" data-total={total} data-recorded={recorded ?? ""} data-difference={difference ?? ""}>
      <span>{said.terms[combine] ?? combine} <b class="mono">{number(products, 7)}</b></span>
      {bias !== null && <span> + {said.bias} <b class="mono">{number(bias, 7)}</b></span>}
      {activation && activation !== "linear" && <span> → {activation}</span>}
      <span> = <b class="mono">{number(total, 7)}</b></span>
      {recorded !== null && <span class="quiet"> · {said.recorded} <b class="mono">{exactText(recorded, "float32")}</b></span>}
      {difference !== null && <span class="quiet"> · {said.difference} <b class="mono">{number(difference, 2)}</b></span>}
    </p>
  );
}

/** Where every channel has one term: the largest ones as a table. */
function Terms({ groups, walk }: { groups: TermGroup[]; walk: Walk }) {
  const [shown, rest] = [groups.slice(0, SHOWN_TERMS), groups.slice(SHOWN_TERMS)];
  const hasWeights = shown.some(({ terms }) => terms[0]?.weight !== null);
  return (
    <>
      <table class="statistics terms">
        <thead><tr><th>{said.value}</th>{hasWeights && <th>{said.weight}</th>}<th>{said.product}</th></tr></thead>
        <tbody>
          {shown.map(({ port, channel, terms: [term] }) => {
            if (!term) return null;
            const way = walk(term);
            const place = `${port > 0 ? `${said.ofInput(port)} ` : ""}${term.index.length ? indexText(term.index) : term.weight_name || said.noValue}`;
            return (
              <tr key={`${port} ${channel}`}>
                <td>
                  {way ? <button class="link mono" title={way.label} onClick={way.go}>{place}</button> : <span class="mono quiet">{place}</span>}{" "}
                  <span class="mono">{number(term.value)}</span>
                </td>
                {hasWeights && <td class="mono">{term.weight === null ? "" : `× ${number(term.weight)}`}</td>}
                <td class="mono">{number(term.product)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {rest.length > 0 && <p class="quiet note">{said.moreTerms(rest.length, number(rest.reduce((sum, group) => sum + group.sum, 0)))}</p>}
    </>
  );
}

/** What each further channel contributed, largest first. */
function Bars({ value: { groups } }: { value: Explained }) {
  const most = Math.max(...groups.map(({ sum }) => Math.abs(sum)), 1e-300);
  const [shown, rest] = [groups.slice(0, SHOWN_BARS), groups.slice(SHOWN_BARS)];
  return (
    <details open>
      <summary>{said.allChannels}</summary>
      <div class="bars">
        {shown.map(({ port, channel, sum }) => (
          <div key={`${port} ${channel}`}>
            <span class="quiet">{port > 0 ? `${port}: ` : ""}{channel}</span>
            <i><b style={{ width: `${(50 * Math.abs(sum)) / most}%`, [sum < 0 ? "right" : "left"]: "50%", background: sum < 0 ? "var(--neg)" : "var(--pos)" }} /></i>
            <span class="mono">{number(sum, 3)}</span>
          </div>
        ))}
      </div>
      {rest.length > 0 && <p class="quiet note">{said.moreGroups(rest.length, number(rest.reduce((sum, group) => sum + group.sum, 0)))}</p>}
    </details>
  );
}

/** The window in each input of the call. */
function Seen({ held, value, call }: { held: Held; value: Explained | Unexplained; call: number | undefined }) {
  const rows = value.window.filter(({ box }) => box);
  if (!rows.length || call === undefined) return null;
  const path = (port: number) => {
    const source = madeBy(held.graph.calls, held.graph.calls[call]!.inputs[port]?.source ?? null);
    return source ? held.graph.calls[source[0]]!.path : said.ofInput(port);
  };
  return (
    <p class="quiet note">
      {said.window}{" "}
      {rows.map(({ port, box, reason }) => (
        <span class="mono" key={port} title={reason}>{said.windowOf(path(port), `[${box!.map(([from, to]) => (to === from + 1 ? from : `${from}:${to}`)).join(", ")}]`)} </span>
      ))}
    </p>
  );
}
