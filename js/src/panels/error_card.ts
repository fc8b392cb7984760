/** What broke, where, and how to mend it, beside the graph; the whole of it can be copied as text. */

import { plural } from "../core/format.ts";
import { cut } from "../core/text.ts";
import type { SourceLine, WireError } from "../protocol/generated.ts";
import { html, on } from "../view/dom.ts";
import { icon, stateIcon } from "../view/glyph.ts";
import { iconButton } from "../view/icon_button.ts";

const COPIED_MS = 1500;
const WHAT_CHARS = 260;

/** @param title "KeyError in run_tests" */
export function errorCard(error: WireError, title: string, signal: AbortSignal): HTMLElement {
  const copy = iconButton("copy", "Copy as text");
  on(copy, "click", () => void copyText(errorText(error, title), copy), signal);
  const where = html("dd", error.where);
  if (error.source.length > 0) where.append(source(error.source));
  return html(
    "section.card.err",
    { "aria-label": title },
    html("header", html("span.failed.ink", stateIcon("failed")), html("h3", title), copy),
    html(
      "dl",
      ...entry("What", html("dd", clipped(error.what))),
      ...entry("Where", error.where === "" && error.source.length === 0 ? null : where),
      ...entry("Fix", error.fix === "" ? null : html("dd", error.fix)),
    ),
    error.traceback === "" ? null : traceback(error.traceback),
  );
}

/** The same as plain text, for a bug report or a search. */
export function errorText(error: WireError, title: string): string {
  const lines = [title, error.what];
  if (error.where !== "") lines.push(`  where: ${error.where}`);
  if (error.fix !== "") lines.push(`  fix:   ${error.fix}`);
  return [...lines, ...(error.traceback === "" ? [] : ["", error.traceback])].join("\n");
}

/** A long message is folded, so that it doesn't push away where it happened and how to mend it. */
function clipped(text: string): HTMLElement | string {
  if (text.length <= WHAT_CHARS) return text;
  const summary = html("summary", cut(text, WHAT_CHARS));
  return html("details.fold", summary, html("pre.mono", { tabindex: 0 }, text));
}

function entry(name: string, value: HTMLElement | null): HTMLElement[] {
  return value === null ? [] : [html("dt", name), value];
}

function source(lines: readonly SourceLine[]): HTMLElement {
  const indents = lines.filter((line) => line.text.trim() !== "").map((line) => indentOf(line.text));
  const least = Math.min(...indents, 200);
  const rows = lines.map((line) =>
    html(
      "span",
      { class: line.hit ? "line hit" : "line", title: line.text.trim() },
      html("i", `${line.number}`.padStart(4)),
      "  ",
      ...underlined({ ...line, text: line.text.slice(least) }),
    ),
  );
  return html("pre.source", ...rows);
}

function underlined(line: SourceLine): (HTMLElement | string)[] {
  if (!line.hit) return [line.text];
  const start = indentOf(line.text);
  return [line.text.slice(0, start), html("u", line.text.slice(start))];
}

function traceback(text: string): HTMLElement {
  const frames = text.split("\n").filter((line) => line.trimStart().startsWith("File ")).length;
  const count = frames === 0 ? "" : plural(frames, "frame");
  return html(
    "details",
    html("summary", icon("right"), "Traceback ", html("span.dim", count)),
    html("pre.mono", { tabindex: 0 }, text),
  );
}

function indentOf(text: string): number {
  return text.length - text.trimStart().length;
}

async function copyText(text: string, button: HTMLButtonElement): Promise<void> {
  const done = await navigator.clipboard?.writeText(text).then(
    () => true,
    () => false,
  );
  button.replaceChildren(icon(done ? "check" : "close"));
  button.title = done ? "Copied" : "The browser refused the clipboard: select the text by hand";
  setTimeout(() => button.replaceChildren(icon("copy")), COPIED_MS);
}
