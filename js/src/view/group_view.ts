/** The frame of a node that is itself a graph: its parts are drawn inside, its own state is on the frame's title line. */

import type { GraphIndex } from "../core/index_graph.ts";
import { cut } from "../core/text.ts";
import { sayNode, timeOf } from "../core/words.ts";
import type { NodeState, WireBox, WireNode } from "../protocol/generated.ts";
import { classes, setAttribute, setText, svg } from "./dom.ts";
import { GEOMETRY } from "./glyph.ts";

const G = GEOMETRY.group;

export class GroupView {
  readonly element: SVGGElement;
  private readonly title = svg("title");
  private readonly time: SVGTextElement;

  constructor(
    private readonly node: WireNode,
    at: WireBox,
    private readonly index: GraphIndex,
  ) {
    this.time = svg("text", { class: "time", x: at.w - G.title_x, y: G.title_y });
    this.element = svg(
      "g",
      { transform: `translate(${at.x} ${at.y})`, role: "button", tabindex: -1, "data-node": node.id },
      this.title,
      svg("rect", { class: "ring", x: -3, y: -3, width: at.w + 6, height: at.h + 6, rx: G.radius + 3 }),
      svg("rect", { class: "frame", width: at.w, height: at.h, rx: G.radius }),
      svg("text", { class: "title", x: G.title_x, y: G.title_y }, cut(node.name, GEOMETRY.node.name_letters)),
      this.time,
    );
  }

  update(state: NodeState | undefined, runningS: number | null, here: boolean): void {
    const time = timeOf(state, runningS);
    const said = sayNode(this.node, state, time, this.index);
    setAttribute(this.element, "class", classes("group", state?.status ?? "idle", here && "here"));
    setAttribute(this.element, "aria-label", said);
    setText(this.title, said);
    const visits = state !== undefined && state.visits > 1 ? `×${state.visits}  ` : "";
    setText(this.time, `${visits}${time}`);
  }
}
