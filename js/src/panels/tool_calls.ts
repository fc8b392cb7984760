/** The tool calls of a node's visit, one row each: how it stands, its name and time, what it was given and gave. */

import { visible } from "../core/text.ts";
import { callAside } from "../core/tool_words.ts";
import type { NodeStatus, ToolCallDetails, WireToolCall } from "../protocol/generated.ts";
import { html } from "../view/dom.ts";
import { stateIcon } from "../view/glyph.ts";

const LOOKS: Readonly<Record<WireToolCall["status"], NodeStatus>> = {
  asked: "queued",
  running: "running",
  done: "done",
  failed: "failed",
};

/** @param known What the kernel knows of the calls, by their ids. */
export function toolCallRows(calls: readonly WireToolCall[], known: readonly ToolCallDetails[]): HTMLElement {
  const details = new Map(known.map((each) => [each.id, each]));
  return html("ul.calls", ...calls.map((call) => row(call, details.get(call.id))));
}

function row(call: WireToolCall, details: ToolCallDetails | undefined): HTMLElement {
  const look = LOOKS[call.status];
  const aside = call.status === "asked" ? "asked for" : callAside(call);
  const lines = [details?.arguments, details?.result].filter((line) => line);
  return html(
    `li.${look}`,
    html("span.ink", stateIcon(look)),
    html("b", visible(call.tool)),
    html(look === "failed" ? "span.ink" : "span.dim", aside),
    ...lines.map((line) => html("p.mono", line ?? "")),
  );
}
