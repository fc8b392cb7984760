/** The words of tool calls and tokens. Pure. */

import type { NodeState, WireToolCall } from "../protocol/generated.ts";
import { formatDuration, listWords, plural } from "./format.ts";
import { cut, visible } from "./text.ts";

/** "asked for pay, called find (0.4 s) and read ×2" */
export function calledWords(calls: readonly WireToolCall[]): string {
  const asked = toolNames(calls.filter((call) => call.status === "asked"));
  const made = toolNames(calls.filter((call) => call.status !== "asked"));
  return [asked && `asked for ${asked}`, made && `called ${made}`].filter(Boolean).join(", ");
}

/** Each tool once, in the order of its first call. */
function toolNames(calls: readonly WireToolCall[]): string {
  const byName = new Map<string, WireToolCall[]>();
  for (const call of calls) byName.set(call.tool, [...(byName.get(call.tool) ?? []), call]);
  return listWords([...byName].map(([name, those]) => toolName(visible(name), those)));
}

/** How often a tool was called, or how its only call stands. */
function toolName(name: string, calls: readonly WireToolCall[]): string {
  const failed = calls.filter((call) => call.status === "failed").length;
  if (calls.length > 1) return `${name} ×${calls.length}${failed === 0 ? "" : ` (${failed} failed)`}`;
  const aside = calls[0] === undefined ? "" : callAside(calls[0]);
  return aside === "" ? name : `${name} (${aside})`;
}

/** How a call stands: its time once it is over, unless it failed. */
export function callAside({ status, duration_s }: WireToolCall): string {
  if (status === "failed" || status === "running") return status;
  return status === "asked" || duration_s === null ? "" : formatDuration(duration_s);
}

/** "used 876 tokens", "" where no model was asked or its server doesn't say. */
export function usedWords({ tokens_in, tokens_out }: NodeState): string {
  return tokens_in + tokens_out === 0 ? "" : `used ${plural(tokens_in + tokens_out, "token")}`;
}

/** "search, 0.4 s": the tool that a node at work waits for, "" if there is none. */
export function toolAtWork(state: NodeState | undefined, elapsedS: number): string {
  const calls = state?.status === "running" ? state.tools.filter((call) => call.status === "running") : [];
  const [first] = calls;
  if (first === undefined) return "";
  const more = calls.length > 1 ? ` and ${calls.length - 1} more` : "";
  const spent = first.started_s === null ? "" : `, ${formatDuration(elapsedS - first.started_s)}`;
  return `${cut(visible(first.tool), 14)}${more}${spent}`;
}
