/** The bar on top: how the run stands in one chip and one line. Its height never changes. */

import type { GraphIndex } from "../core/index_graph.ts";
import { chipOf, headline } from "../core/words.ts";
import type { NodeStatus, Snapshot } from "../protocol/generated.ts";
import { html, setAttribute, setText } from "./dom.ts";
import { stateIcon } from "./glyph.ts";

export class Header {
  readonly element: HTMLElement;
  private readonly sign = html("span", { class: "sign" });
  private readonly word = document.createTextNode("");
  private readonly chip = html("span", { class: "chip" }, this.sign, this.word);
  private readonly facts = html("span", { class: "dim cut facts" });
  private readonly name = html("span", { class: "dim cut graph-name" });
  private look: NodeStatus | null = null;

  constructor() {
    this.element = html(
      "div",
      { class: "bar head" },
      this.chip,
      this.facts,
      html("span", { class: "grow" }),
      this.name,
    );
  }

  update(snapshot: Snapshot, index: GraphIndex, elapsedS: number, saved: boolean): void {
    const { look, word } = chipOf(snapshot, saved);
    if (look !== this.look) {
      setAttribute(this.chip, "class", `chip ${look}`);
      this.sign.replaceChildren(stateIcon(look));
      this.look = look;
    }
    setText(this.word, word);
    const facts = headline(snapshot, index, elapsedS);
    setText(this.facts, facts);
    setAttribute(this.facts, "title", facts);
    setText(this.name, snapshot.graph.name);
    setAttribute(this.name, "title", snapshot.graph.name);
  }
}
