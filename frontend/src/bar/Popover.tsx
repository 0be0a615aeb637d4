/** A button with a panel below it. Closes on Escape (keys.ts), on a click elsewhere, and when the focus leaves it. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { menu } from "../state";

interface PopoverProps {
  name: string;
  label: string;
  button: ComponentChildren;
  children: ComponentChildren;
  className?: string;
  align?: "start" | "end";
}

export function Popover({ name, label, button, children, className = "", align = "start" }: PopoverProps) {
  const box = useRef<HTMLDivElement>(null);
  const open = menu.value === name;
  useEffect(() => {
    if (!open) return;
    const outside = (event: PointerEvent) => {
      if (!box.current?.contains(event.target as Node)) menu.value = "";
    };
    window.addEventListener("pointerdown", outside);
    return () => window.removeEventListener("pointerdown", outside);
  }, [open]);
  return (
    <div class={`popover ${className}`} ref={box}>
      <button
        class="pick"
        aria-label={label}
        title={label}
        aria-haspopup="true"
        aria-expanded={open}
        onClick={() => (menu.value = open ? "" : name)}
      >
        {button}
      </button>
      {open && (
        <div class={`menu ${align}`} role="dialog" aria-label={label}>
          {children}
        </div>
      )}
    </div>
  );
}
