/** Buttons and fields of the panels. Their listeners live and die with the element. */

import { html, on } from "./dom.ts";

export interface ButtonLook {
  readonly key?: string;
  readonly className?: string;
  readonly icon?: Element;
  /** What it says where it shows only a sign; also its tooltip. */
  readonly name?: string;
  /** Finds it again when it is made anew while it has the focus. */
  readonly dataKey?: string;
  /** Why it can't be used now. It stays where it is, dimmed, and says so. */
  readonly refused?: string;
}

export function button(label: string, run: () => void, look: ButtonLook = {}): HTMLButtonElement {
  const { key = "", className = "", icon, name = "", dataKey, refused = "" } = look;
  const element = html(
    "button",
    {
      type: "button",
      class: className || null,
      "aria-label": name || null,
      "aria-disabled": refused !== "" && "true",
      "data-hint": refused || name || null,
      "data-hint-key": key || null,
      "data-key": dataKey ?? null,
    },
    icon ?? null,
    label,
  );
  if (key !== "" && label !== "") element.append(html("kbd", key));
  on(element, "click", () => refused === "" && run());
  return element;
}

/** True for what takes letters: keys pressed there are text, not commands. */
export function takesText(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !["checkbox", "radio", "button", "range"].includes(target.type);
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement || target.isContentEditable;
}

/** A text field that grows with its text: Enter applies, Shift+Enter breaks the line, Escape leaves. */
export function textField(
  value: string,
  label: string,
  keys: { readonly enter: () => void; readonly escape: () => void; readonly input?: () => void },
): HTMLTextAreaElement {
  const field = html("textarea.field.mono", { rows: 1, spellcheck: "false", "aria-label": label });
  field.value = value;
  const grow = () => {
    field.rows = Math.min(8, Math.max(1, field.value.split("\n").length, Math.ceil(field.value.length / 46)));
  };
  grow();
  on(field, "input", () => {
    grow();
    keys.input?.();
  });
  on(field, "keydown", (event) => {
    const isEnter = event.key === "Enter" && !event.shiftKey && !event.isComposing;
    if (!isEnter && event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    if (isEnter) keys.enter();
    else keys.escape();
  });
  return field;
}

/** Left and right, Home and End move within a row of buttons that is one tab stop. */
export function roving(row: HTMLElement, signal: AbortSignal): void {
  const stops = () => [...row.querySelectorAll<HTMLElement>("button:not([hidden])")];
  on(
    row,
    "keydown",
    (event) => {
      const all = stops();
      const at = all.indexOf(document.activeElement as HTMLElement);
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1 }[event.key];
      const next = to === undefined || at < 0 ? undefined : all[(to + all.length) % all.length];
      if (next === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      next.focus();
    },
    signal,
  );
  on(
    row,
    "focusin",
    (event) => {
      for (const stop of stops()) stop.tabIndex = stop === event.target ? 0 : -1;
    },
    signal,
  );
  stops().forEach((stop, i) => {
    stop.tabIndex = i === 0 ? 0 : -1;
  });
}
