/** A list with a search field: type to narrow, ↑ ↓ to move, Enter to take. Knows nothing of what it lists. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { words } from "../strings";
import { narrow, type PickEntry } from "./narrow";

interface PickListProps<T> {
  entries: PickEntry<T>[];
  label: string;
  placeholder: string;
  /** Entries to show at most; how many more there are is said below. */
  limit?: number;
  /** Further entries for a text, asked for once typing rests. */
  more?(text: string): Promise<PickEntry<T>[]>;
  /** The entry that Enter would take has changed. */
  onHighlight?(value: T): void;
  onPick(value: T): void;
}

const REST_MS = 40;

/**
 * What was found elsewhere for the text; for another text nothing, so that no entry is read as its answer. One question at a
 * time: what was typed until its answer came is asked next, so that typing never waits in a queue.
 */
function useMore<T>(text: string, more?: (text: string) => Promise<PickEntry<T>[]>): PickEntry<T>[] {
  const [answer, setAnswer] = useState<{ text: string; entries: PickEntry<T>[] }>({ text: "", entries: [] });
  const newest = useRef("");
  const busy = useRef(false);
  newest.current = text.trim();
  const ask = async () => {
    const wanted = newest.current;
    if (!more || busy.current || wanted.length < 2) return;
    busy.current = true;
    const entries = await more(wanted).catch(() => []);
    busy.current = false;
    if (wanted === newest.current) setAnswer({ text: wanted, entries });
    else void ask();
  };
  useEffect(() => {
    const timer = setTimeout(() => void ask(), REST_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return answer.text === text.trim() ? answer.entries : [];
}

export function PickList<T>({ entries, label, placeholder, limit = 200, more, onHighlight, onPick }: PickListProps<T>) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(() => Math.max(0, entries.findIndex((entry) => entry.current)));
  const field = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const found = useMemo(() => narrow(entries, text), [entries, text]);
  const further = useMore(text, more);
  const shown = [...found.slice(0, limit), ...further];
  useEffect(() => field.current?.focus(), []);
  useEffect(() => list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" }), [at, text]);
  const highlighted = shown[at];
  useEffect(() => { if (highlighted) onHighlight?.(highlighted.value); }, [highlighted?.key]);
  const onKeyDown = (event: KeyboardEvent) => {
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (move) setAt((old) => Math.min(shown.length - 1, Math.max(0, old + move)));
    else if (event.key === "Enter" && shown[at]) onPick(shown[at].value);
    else return;
    event.preventDefault();
  };
  return (
    <div class="picklist" onKeyDown={onKeyDown}>
      <input
        ref={field}
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-label={label}
        placeholder={placeholder}
        value={text}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
      />
      <div class="entries" role="listbox" aria-label={label} ref={list}>
        {shown.map((entry, index) => (
          <>
            {entry.group && entry.group !== shown[index - 1]?.group && <div class="group-title">{entry.group}</div>}
            <div
              key={entry.key}
              role="option"
              class={entry.current ? "entry current" : "entry"}
              aria-selected={index === at}
              onPointerMove={() => setAt(index)}
              onClick={() => onPick(entry.value)}
            >
              {entry.show}
            </div>
          </>
        ))}
        {!shown.length && <p class="quiet">{words.bar.nothingFound}</p>}
        {found.length > limit && <p class="quiet">{words.overview.ledgerMore(found.length - limit)}</p>}
      </div>
    </div>
  );
}
