/** One key of the state, or one value inside it: sign of its change, twisty, name, value, how it is updated. */

import { diffText, growth } from "../core/text_diff.ts";
import type { Preview } from "../protocol/generated.ts";
import type { WireKey } from "../protocol/generated_debugging.ts";
import { button } from "../view/controls.ts";
import { debugIcon } from "../view/debug_icons.ts";
import { classes, html, on } from "../view/dom.ts";
import { icon } from "../view/glyph.ts";
import { previewText } from "../view/rich.ts";

type Change = WireKey["change"];
const SIGNS: Readonly<Record<Change, string>> = { "": "", added: "+", changed: "~", removed: "−" };
const SPOKEN: Readonly<Record<Change, string>> = { "": "", added: "added", changed: "changed", removed: "removed" };

export interface RowLook {
  readonly id: string;
  readonly name: string;
  readonly change: Change;
  /** Null where there is nothing to open. */
  readonly open: boolean | null;
  readonly value: HTMLElement;
  readonly said: string;
  readonly strategy?: string;
  readonly edited?: boolean;
  readonly depth: number;
  readonly toggle: () => void;
  readonly edit?: () => void;
}

export function row(look: RowLook): HTMLElement {
  const { id, name, change, open, value, depth } = look;
  const twisty = open === null ? html("span.tw") : html("span.tw", icon(open ? "down" : "right"));
  const element = html(
    "div",
    {
      class: classes("row", depth > 0 && "sub", change === "removed" && "gone"),
      role: "treeitem",
      tabindex: -1,
      "aria-level": depth + 1,
      "aria-expanded": open === null ? null : String(open),
      "aria-label": [name, SPOKEN[change], look.said].filter(Boolean).join(", "),
      "data-key": id,
      style: `--depth:${depth}`,
    },
    html("span.sign", { "aria-hidden": "true" }, SIGNS[change]),
    twisty,
    html("span.key.cut", { title: name }, name),
    value,
    look.edited ? html("span.edited.ink.by-hand", { title: "Changed by a person" }, debugIcon("pencil")) : null,
    look.strategy === undefined ? null : html("span.how", look.strategy),
  );
  if (open !== null) on(twisty, "click", look.toggle);
  if (look.edit !== undefined) {
    const edit = button("", look.edit, {
      name: `Edit ${name}`,
      key: "E",
      className: "pencil",
      icon: debugIcon("pencil"),
    });
    edit.tabIndex = -1;
    element.append(edit);
    on(element, "dblclick", look.edit);
  } else if (open !== null) on(element, "dblclick", look.toggle);
  return element;
}

/** A key's value in one line: what it was and what it is if it changed and both fit, else what it is. */
export function keyValue(key: WireKey, open: boolean): HTMLElement {
  const { value, before, change } = key;
  const isShort = !key.opens && !value.cut && before?.cut !== true;
  if (change === "changed" && before !== null && isShort && !value.text.includes("\n")) {
    const by = growth(before.text, value.text);
    return html(
      "span.val.cut",
      { title: `${before.text} → ${value.text}` },
      html("del", numbered(before)),
      " ",
      html("ins", numbered(value)),
      by === "" ? null : html("span.dim", ` ${by}`),
    );
  }
  const size = key.opens || (open && key.size !== "") ? key.size || previewText(value) : "";
  const text = size === "" ? previewText(value) : size;
  const isQuiet = size !== "" || value.text === "None";
  return html("span", { class: classes("val cut", isQuiet && "dim"), title: `${key.type}\n${value.text}` }, text);
}

function numbered(value: Preview): string {
  return value.kind === "int" && /^-?\d{4,}$/.test(value.text)
    ? Number(value.text).toLocaleString("en-US")
    : previewText(value);
}

export function valueText(value: Preview): HTMLElement {
  const quiet = value.text === "None";
  return html(
    "span",
    { class: classes("val cut", quiet && "dim"), title: `${value.kind}\n${value.text}` },
    previewText(value),
  );
}

/** Old and new text as one, with what went struck and what came underlined. */
export function textDiff(before: string, after: string): HTMLElement {
  const pieces = diffText(before, after).flatMap(({ kind, text }, i, all) => {
    const follows = kind === "ins" && all[i - 1]?.kind === "del";
    return kind === "same" ? [text] : [...(follows ? [" "] : []), html(kind, {}, text)];
  });
  return html("div.whole", ...pieces);
}

export function wholeText(text: string): HTMLElement {
  return html("div.whole", text);
}
