/** What the signs mean, folded away until asked for with `L`. */

import { STATUS_WORDS } from "../core/words.ts";
import type { NodeStatus } from "../protocol/generated.ts";
import { html, svg } from "./dom.ts";
import { findingIcon } from "./findings.ts";
import { stateIcon } from "./glyph.ts";

const STATES: readonly NodeStatus[] = ["idle", "queued", "running", "waiting", "done", "failed", "skipped", "paused"];
const KEYS: readonly (readonly [string, string])[] = [
  ["↑ ↓ ← →", "along the edges"],
  ["Enter", "open a node"],
  ["Esc", "back"],
  ["+ − 0 F", "zoom, fit"],
  ["O", "follow"],
  ["L", "legend"],
];

export class Legend {
  readonly element: HTMLDetailsElement;

  constructor() {
    this.element = html(
      "details.legend",
      html("summary", { title: "What the signs mean" }, "Legend ", html("kbd", "L")),
      html("div.sheet.signs", ...signSections(), ...keySection()),
    );
  }

  toggle(): void {
    this.element.open = !this.element.open;
  }

  /** True if it was open. */
  close(): boolean {
    const wasOpen = this.element.open;
    this.element.open = false;
    return wasOpen;
  }
}

/** What the signs of nodes and edges mean, in lists under their titles. */
export function signSections(): HTMLElement[] {
  const items = STATES.map((status) => html("li", { class: status }, stateIcon(status), STATUS_WORDS[status]));
  return [
    html("h3", "Nodes"),
    html("ul", ...items, html("li", html("b", "×3"), "third visit"), findingItem()),
    html("h3", "Edges"),
    html(
      "ul",
      html("li", stroke("taken"), "taken"),
      html("li", stroke("cond"), "by a router"),
      html("li", stroke("off"), "not chosen"),
      html("li", stroke("double"), "waits for all"),
    ),
  ];
}

function findingItem(): HTMLElement {
  return html("li.finding.waiting", findingIcon(), "warned of: open it");
}

function keySection(): HTMLElement[] {
  const items = KEYS.map(([keys, words]) => html("li", html("kbd", keys), words));
  return [html("h3", "Keys"), html("ul.keys", ...items)];
}

function stroke(kind: "taken" | "cond" | "off" | "double"): SVGSVGElement {
  const d = kind === "double" ? "M1 6.500h24M1 9.500h24" : "M1 8h24";
  return svg("svg", { class: `stroke ${kind}`, viewBox: "0 0 26 16", "aria-hidden": "true" }, svg("path", { d }));
}
