/** An answer of the plugin inside a panel. Keeps the last one until the next arrives, so that moving the cursor does not flash. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";

export interface Answer<T> {
  value: T | null;
  problem: string;
}

/** Asks anew when `key` changes; null asks nothing. What arrives for an older key is dropped. */
export function useAnswer<T>(key: string | null, ask: () => Promise<T>): Answer<T> {
  const [answer, setAnswer] = useState<Answer<T>>({ value: null, problem: "" });
  const newest = useRef(key);
  newest.current = key;
  // Before the frame is painted: what was asked ahead is there already, and the rest is asked a frame earlier.
  useLayoutEffect(() => {
    if (key === null) return setAnswer({ value: null, problem: "" });
    ask().then(
      (value) => newest.current === key && setAnswer({ value, problem: "" }),
      (error: unknown) => newest.current === key && setAnswer({ value: null, problem: error instanceof Error ? error.message : String(error) }),
    );
  }, [key]);
  return answer;
}
