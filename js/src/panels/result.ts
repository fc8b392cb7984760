/** The final state, once a run has ended; or why nothing came of it. */

import { formatDuration, plural } from "../core/format.ts";
import type { RunState } from "../protocol/generated.ts";
import { html, on } from "../view/dom.ts";
import { stateIcon } from "../view/glyph.ts";
import { iconButton } from "../view/icon_button.ts";
import { nothing, previewRows } from "./values.ts";

export function resultCard(run: RunState, close: () => void, signal: AbortSignal): HTMLElement {
  const button = iconButton("close", "Close", "Esc");
  on(button, "click", close, signal);
  const complete = run.reason === "completed";
  const look = complete ? "done" : "waiting";
  const title = run.result === null ? "No final state" : "Final state";
  return html(
    "section.card.result",
    { "aria-label": title },
    html("header", html("span", { class: `${look} ink` }, stateIcon(look)), html("h3", title), button),
    html("p.facts.dim", `${plural(run.turns, "step")} · ${formatDuration(run.elapsed_s)}`),
    run.message === "" ? null : html("p", run.message),
    run.result === null ? nothing("Nothing reached the end of the graph.") : previewRows(run.result),
  );
}
