/** The panel before it has heard of a session. */

import type { CommandName, DebugState } from "../protocol/generated_debugging.ts";

const COMMANDS =
  "run resume pause step_wave step_one step_into step_out step_back step_forward goto live " +
  "run_to stop edit why breakpoint retry skip pin fork compare answer";

/** What each command is answered with while nothing can be asked of the kernel. */
export function allForbidden(reason: string): DebugState["allowed"] {
  return Object.fromEntries(COMMANDS.split(" ").map((name) => [name, reason])) as Record<CommandName, string>;
}

export const NO_DEBUG: DebugState = {
  seq: -1,
  status: "idle",
  reason: "",
  looking: null,
  inside: null,
  step: 0,
  branch: 0,
  steps: [],
  steps_before: 0,
  inner: [],
  branches: [],
  next_branch: "",
  would_run: [],
  stopped_at: [],
  waiting: [],
  breakpoints: [],
  allowed: allForbidden("the kernel hasn't answered yet"),
  state: [],
  messages: null,
  log: [],
  watches: [],
  input_schema: {},
  questions: [],
};
