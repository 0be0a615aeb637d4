/** What a call runs, in words: the Keras method, then a line for each raw operation and what led to it. */
import { useState } from "preact/hooks";
import { lineageWords } from "../words/lineage";
import { chainLines } from "./lineage";

const SHOWN = 12;

export function Chain({ chain }: { chain: string[] }) {
  const [all, setAll] = useState(false);
  const { head, lines } = chainLines(chain);
  const shown = all ? lines : lines.slice(0, SHOWN);
  return (
    <section>
      <h3>{lineageWords.chain}</h3>
      <p class="mono strong chain-head">{head}</p>
      <ol class="chain mono">
        {shown.map((words, i) => (
          <li key={i}>
            {words.map((word, k) => (
              <span key={k} class={word.includes(".") ? "" : "raw"}>{k > 0 && <i aria-hidden="true">→</i>}{word}</span>
            ))}
          </li>
        ))}
      </ol>
      {lines.length > shown.length && <button class="link note" onClick={() => setAll(true)}>{lineageWords.chainMore(lines.length - shown.length)}</button>}
    </section>
  );
}
