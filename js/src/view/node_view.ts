/** One node of the picture. Built once; `update` changes only what differs, so a run moves nothing but what it means. */

import { visitsBadge } from "../core/format.ts";
import type { GraphIndex } from "../core/index_graph.ts";
import { cut, visible } from "../core/text.ts";
import { sayNode, timeOf } from "../core/words.ts";
import type { NodeState, NodeStatus, WireBox, WireFinding, WireNode } from "../protocol/generated.ts";
import { classes, setAttribute, setPresent, setText, svg } from "./dom.ts";
import { findingSign, findingsOf, sayFindings } from "./findings.ts";
import { GEOMETRY, stateShapes } from "./glyph.ts";

const G = GEOMETRY.node;
const PATTERNED: readonly NodeStatus[] = ["queued", "waiting", "failed"];

export class NodeView {
  readonly element: SVGGElement;
  private readonly ring: SVGRectElement;
  private readonly box: SVGRectElement;
  private readonly fill: SVGRectElement;
  private readonly glyph = svg("g", { class: "glyph" });
  private readonly time = svg("text", { class: "time" });
  private readonly progress: SVGPathElement;
  private readonly gate: SVGPathElement;
  private readonly times = svg("g", { class: "times" });
  private readonly isPill: boolean;
  private readonly findings: readonly WireFinding[];
  private status: NodeStatus | null = null;

  constructor(
    private readonly node: WireNode,
    private readonly at: WireBox,
    private readonly index: GraphIndex,
    private readonly prefix: string,
  ) {
    const { w, h } = at;
    this.findings = findingsOf(index.graph, node.id);
    this.isPill = node.kind === "start" || node.kind === "end";
    this.ring = rect("ring", -G.ring_out, w + 2 * G.ring_out, h + 2 * G.ring_out, this.isPill ? h : G.ring_radius);
    this.box = rect(this.isPill ? "box pill" : "box", 0, w, h, this.isPill ? h / 2 : G.radius);
    this.fill = rect("fill", 0, w, h, G.radius);
    const length = w - 2 * G.progress_inset;
    const y = h - G.progress_bottom;
    const from = G.progress_inset + length * G.progress_from;
    this.progress = svg("path", { class: "progress", d: `M${from} ${y}H${G.progress_inset + length * G.progress_to}` });
    this.gate = svg("path", { class: "gate", d: `M${G.gate_inset} ${-G.gate_above}H${w - G.gate_inset}` });
    this.element = svg("g", {
      transform: `translate(${at.x} ${at.y})`,
      role: "button",
      tabindex: -1,
      "data-node": node.id,
    });
    this.element.append(this.ring, this.box, ...(this.isPill ? this.pill() : this.body()));
    const sign = findingSign(this.findings);
    if (sign !== null) this.element.append(sign);
  }

  update(state: NodeState | undefined, runningS: number | null, here: boolean): void {
    const status = state?.status ?? "idle";
    const time = timeOf(state, runningS);
    const said = sayNode(this.node, state, time, this.index) + sayFindings(this.findings);
    setAttribute(this.element, "class", classes("node", status, here && "here"));
    setAttribute(this.element, "aria-label", said);
    if (this.isPill) return;
    if (status !== this.status) this.dress(status);
    this.status = status;
    const visits = state?.visits ?? 0;
    this.count(visits);
    setText(this.time, time);
    setAttribute(
      this.time,
      "x",
      this.at.w - (visits > 1 ? Math.max(G.time_right_counted, badgeWidth(visits) / 2 + 4) : G.time_right),
    );
  }

  private pill(): SVGElement[] {
    const { w, h } = this.at;
    const inset = G.pill_inset;
    const inner = svg("rect", {
      class: "inner",
      x: inset,
      y: inset,
      width: w - 2 * inset,
      height: h - 2 * inset,
      rx: h / 2 - inset,
    });
    const name = svg("text", { class: "name small", x: w / 2, y: h / 2 + G.small_name_dy }, this.node.name);
    return this.node.kind === "end" ? [inner, name] : [name];
  }

  private body(): SVGElement[] {
    const { w, h } = this.at;
    const top = h / 2 - GEOMETRY.size / 2;
    const name = svg(
      "text",
      { class: "name", x: G.name_x, y: h / 2 + G.name_dy },
      cut(visible(this.node.name), G.name_letters),
    );
    setAttribute(this.glyph, "transform", `translate(${G.glyph_x} ${top})`);
    // For small scales, where the name is hidden and the glyph stands in the middle (graph.css).
    this.glyph.style.setProperty("--mid", `${w / 2 - GEOMETRY.size / 2}px, ${top}px`);
    setAttribute(this.time, "y", h / 2 + G.time_dy);
    const sync = svg("path", { class: "sync", d: `M${G.sync_inset} ${G.sync_y}H${w - G.sync_inset}` });
    return [...(this.node.join === "all" ? [sync] : []), this.glyph, name, this.time];
  }

  private dress(status: NodeStatus): void {
    this.glyph.replaceChildren(...stateShapes(status));
    if (PATTERNED.includes(status)) {
      setAttribute(this.fill, "fill", `url(#${this.prefix}-${status})`);
      if (this.fill.parentNode === null) this.box.after(this.fill);
    } else this.fill.remove();
    setPresent(this.element, this.progress, status === "running");
    setPresent(this.element, this.gate, status === "paused");
  }

  /** "×3" on the right border. */
  private count(visits: number): void {
    setPresent(this.element, this.times, visits > 1);
    if (visits < 2) return;
    const text = visitsBadge(visits);
    if (this.times.textContent === text) return;
    const width = badgeWidth(visits);
    const height = G.times_height;
    setAttribute(this.times, "transform", `translate(${this.at.w - width / 2} ${(this.at.h - height) / 2})`);
    this.times.replaceChildren(
      svg("rect", { width, height, rx: height / 2 }),
      svg("text", { x: width / 2, y: G.times_text_y }, text),
    );
  }
}

function badgeWidth(visits: number): number {
  return visitsBadge(visits).length * G.times_letter + G.times_pad;
}

function rect(name: string, at: number, width: number, height: number, rx: number): SVGRectElement {
  return svg("rect", { class: name, x: at, y: at, width, height, rx });
}
