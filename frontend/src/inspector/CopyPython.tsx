/** A button that copies a Python text, and says that it did. */
import { useState } from "preact/hooks";
import { copy } from "../memory";
import { words } from "../strings";

export function CopyPython({ text }: { text: string }) {
  const [done, setDone] = useState(false);
  const onClick = async () => {
    setDone(await copy(text));
    setTimeout(() => setDone(false), 1600);
  };
  return (
    <button class="plain small" title={text} aria-live="polite" onClick={() => void onClick()}>
      {done ? words.inspector.copied : words.inspector.copy}
    </button>
  );
}
