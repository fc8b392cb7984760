/** The keys of the debugger beyond those of the graph, and the sheet that lists them all. Pure. */

import { lookUp } from "./record.ts";

export type DebugAction =
  | (
      | "resume"
      | "pause"
      | "step_wave"
      | "step_one"
      | "step_into"
      | "step_out"
      | "step_back"
      | "step_forward"
      | "first"
      | "live"
      | "run_to"
      | "stop"
    )
  | ("answer" | "breakpoint" | "condition" | "edit" | "why" | "help")
  | ("tab_1" | "tab_2" | "tab_3" | "tab_4" | "tab_5" | "tab_6");

export interface ShiftedPress {
  readonly key: string;
  readonly shiftKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
}

const PLAIN: Readonly<Record<string, DebugAction>> = {
  r: "resume",
  p: "pause",
  s: "step_wave",
  i: "step_into",
  t: "run_to",
  a: "answer",
  b: "breakpoint",
  e: "edit",
  w: "why",
  "[": "step_back",
  "]": "step_forward",
  Home: "first",
  End: "live",
  "?": "help",
  "1": "tab_1",
  "2": "tab_2",
  "3": "tab_3",
  "4": "tab_4",
  "5": "tab_5",
  "6": "tab_6",
};
const SHIFTED: Readonly<Record<string, DebugAction>> = {
  s: "step_one",
  i: "step_out",
  x: "stop",
  b: "condition",
  "?": "help",
};

/** The action of a key press; null for keys that belong to the graph, the notebook or the browser. */
export function debugActionOf(press: ShiftedPress): DebugAction | null {
  // Brackets stand behind AltGr on many keyboards; browsers report that as Ctrl and Alt together.
  const isBracket = press.key === "[" || press.key === "]";
  if (!isBracket && (press.ctrlKey || press.metaKey || press.altKey)) return null;
  const isLetter = /^[a-z]$/i.test(press.key);
  const key = isLetter ? press.key.toLowerCase() : press.key;
  return lookUp(isLetter && press.shiftKey ? SHIFTED : PLAIN, key) ?? null;
}

/** The help sheet: groups of [keys, what they do]. */
export const KEY_SHEET: readonly (readonly [string, readonly (readonly [string, string])[]])[] = [
  [
    "Run",
    [
      ["R", "run, resume"],
      ["P", "pause before the next task"],
      ["S", "step a wave: every ready node"],
      ["⇧ S", "step one node"],
      ["I", "step into a sub-graph"],
      ["⇧ I", "step out of it"],
      ["T", "run to the chosen node"],
      ["⇧ X", "stop"],
    ],
  ],
  [
    "Look",
    [
      ["[ ]", "a step back, a step on"],
      ["Home", "the start"],
      ["End", "back to live"],
      ["1 – 6", "tabs of the inspector"],
      ["W", "why this node"],
      ["?", "this sheet"],
    ],
  ],
  [
    "Change",
    [
      ["A", "answer what is asked"],
      ["B", "breakpoint on or off"],
      ["⇧ B", "breakpoint with a condition"],
      ["E", "edit the state"],
      ["Enter", "apply"],
      ["Esc", "back out"],
    ],
  ],
  [
    "Graph",
    [
      ["↑ ↓ ← →", "along the edges"],
      ["Enter", "open a node"],
      ["+ − 0 F", "zoom, fit"],
      ["O", "follow"],
    ],
  ],
];
