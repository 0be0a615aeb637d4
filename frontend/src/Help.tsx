/** The overlay that lists every key. */
import { useEffect, useRef } from "preact/hooks";
import { menu } from "./state";
import { words } from "./strings";

export function Help() {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    button.current?.focus();
    return () => (before as HTMLElement | null)?.focus?.();
  }, []);
  const close = () => (menu.value = "");
  return (
    <div class="veil" onClick={(event) => event.target === event.currentTarget && close()}>
      <div class="help" role="dialog" aria-modal="true" aria-label={words.help.title}>
        <button class="icon close" ref={button} aria-label={words.help.close} onClick={close}>
          <svg viewBox="0 0 12 12" aria-hidden="true"><path d="m2.5 2.5 7 7m0-7-7 7" /></svg>
        </button>
        <h2>{words.help.title}</h2>
        <dl>
          {words.help.keys.map(([keys, what]) => (
            <div key={keys + what}>
              <dt>{keys.split(/\s+/).map((key) => <kbd key={key}>{key}</kbd>)}</dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
        <h2>{words.help.signs}</h2>
        <dl>
          {words.help.meanings.map(([sign, what]) => <div key={sign}><dt>{sign}</dt><dd>{what}</dd></div>)}
        </dl>
      </div>
    </div>
  );
}
