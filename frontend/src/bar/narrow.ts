/** The entries of a list that match a text. Pure. */
import type { ComponentChildren } from "preact";

export interface PickEntry<T> {
  key: string;
  value: T;
  group?: string;
  /** What is searched. */
  text: string;
  show: ComponentChildren;
  current?: boolean;
}

/** Entries that hold every word of the text, those where a word begins the entry's name first. */
export function narrow<T>(entries: PickEntry<T>[], text: string): PickEntry<T>[] {
  const wanted = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (!wanted.length) return entries;
  const found = entries.filter((entry) => wanted.every((word) => entry.text.toLowerCase().includes(word)));
  const begins = (entry: PickEntry<T>) => (entry.text.toLowerCase().startsWith(wanted[0]!) ? 0 : 1);
  return found.sort((a, b) => begins(a) - begins(b));
}
