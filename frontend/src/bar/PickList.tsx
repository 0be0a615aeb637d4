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
  onPick(value: T): void;
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
