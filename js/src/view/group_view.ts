/** The frame of a node that is itself a graph: its parts are drawn inside, its own state is on the frame's title line. */

import { visitsBadge } from "../core/format.ts";
import type { GraphIndex } from "../core/index_graph.ts";
import { cut, visible } from "../core/text.ts";
import { sayNode, timeOf } from "../core/words.ts";
import type { NodeState, NodeStatus, WireBox, WireFinding, WireNode } from "../protocol/generated.ts";
import { classes, setAttribute, setText, svg } from "./dom.ts";
import { FindingSign, findingsOf, sayFindings } from "./findings.ts";
import { GEOMETRY, stateShapes } from "./glyph.ts";

const G = GEOMETRY.group;
const GLYPH_ROOM = 18;

export class GroupView {
  readonly element: SVGGElement;
  private readonly _time: SVGTextElement;
  private readonly _glyph = svg("g.glyph", { transform: `translate(${G.title_x - 2} ${G.title_y - 11.5}) scale(.88)` });
  private readonly _findings: readonly WireFinding[];
  private readonly _sign: FindingSign;
  private _status: NodeStatus | null = null;

  constructor(
    private readonly _node: WireNode,
    at: WireBox,
    private readonly _index: GraphIndex,
  ) {
    this._findings = findingsOf(_index.graph, _node.id);
    this._time = svg("text.time", { x: at.w - G.title_x, y: G.title_y });
    this.element = svg(
      "g",
      { transform: `translate(${at.x} ${at.y})`, role: "button", tabindex: -1, "data-node": _node.id },
      svg("rect.ring", { x: -3, y: -3, width: at.w + 6, height: at.h + 6, rx: G.radius + 3 }),
      svg("rect.frame", { width: at.w, height: at.h, rx: G.radius }),
      this._glyph,
      svg(
        "text.title",
        { x: G.title_x + GLYPH_ROOM, y: G.title_y },
        cut(visible(_node.name), Math.max(GEOMETRY.node.name_letters, Math.floor((at.w - G.title_room) / G.letter))),
      ),
      this._time,
    );
    this._sign = new FindingSign(this.element, this._findings);
  }

  update(state: NodeState | undefined, runningS: number | null, here: boolean): void {
    const status = state?.status ?? "idle";
    if (status !== this._status) this._glyph.replaceChildren(...stateShapes(status));
    this._status = status;
    const time = timeOf(state, runningS);
    const said = sayNode(this._node, state, time, this._index) + sayFindings(this._findings);
    setAttribute(this.element, "class", classes("group", status, here && "here"));
    setAttribute(this.element, "aria-label", said);
    this._sign.update(state);
    const visits = state !== undefined && state.visits > 1 ? `${visitsBadge(state.visits)}  ` : "";
    setText(this._time, `${visits}${time}`);
  }
}
