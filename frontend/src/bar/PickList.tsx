/** A list with a search field: type to narrow, ↑ ↓ to move, Enter to take. Knows nothing of what it lists. */
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { words } from "../strings";

export interface PickEntry<T> {
  key: string;
  value: T;
  group?: string;
  /** What is searched. */
  text: string;
  show: ComponentChildren;
  current?: boolean;
}

interface PickListProps<T> {
  entries: PickEntry<T>[];
  label: string;
  placeholder: string;
  /** Entries to show at most; how many more there are is said below. */
  limit?: number;
  onPick(value: T): void;
}

/** Entries that hold every word of the text, those where a word begins the entry's name first. */
export function narrow<T>(entries: PickEntry<T>[], text: string): PickEntry<T>[] {
  const wanted = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (!wanted.length) return entries;
  const found = entries.filter((entry) => wanted.every((word) => entry.text.toLowerCase().includes(word)));
  const begins = (entry: PickEntry<T>) => (entry.text.toLowerCase().startsWith(wanted[0]!) ? 0 : 1);
  return found.sort((a, b) => begins(a) - begins(b));
}

export function PickList<T>({ entries, label, placeholder, limit = 200, onPick }: PickListProps<T>) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(() => Math.max(0, entries.findIndex((entry) => entry.current)));
  const field = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const found = useMemo(() => narrow(entries, text), [entries, text]);
  const shown = found.slice(0, limit);
  useEffect(() => field.current?.focus(), []);
  useEffect(() => list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" }), [at, text]);
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
        {found.length > shown.length && <p class="quiet">{words.overview.ledgerMore(found.length - shown.length)}</p>}
      </div>
    </div>
  );
}
