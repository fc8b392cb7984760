/** The bar on top: how the run stands in one chip and one line. Its height never changes. */

import type { GraphIndex } from "../core/index_graph.ts";
import { chipOf, headline } from "../core/words.ts";
import type { NodeStatus, Snapshot } from "../protocol/generated.ts";
import { html, setAttribute, setText } from "./dom.ts";
import { stateIcon } from "./glyph.ts";

export class Header {
  readonly element: HTMLElement;
  private readonly _sign = html("span.sign");
  private readonly _word = document.createTextNode("");
  private readonly _chip = html("span.chip", this._sign, this._word);
  private readonly _facts = html("span.dim.cut.facts");
  private readonly _name = html("span.dim.cut.graph-name");
  private _look: NodeStatus | null = null;

  constructor() {
    this.element = html("div.bar.head", this._chip, this._facts, html("span.grow"), this._name);
  }

  update(snapshot: Snapshot, index: GraphIndex, elapsedS: number, saved: boolean): void {
    const { look, word } = chipOf(snapshot, saved);
    if (look !== this._look) {
      setAttribute(this._chip, "class", `chip ${look}`);
      this._sign.replaceChildren(stateIcon(look));
      this._look = look;
    }
    setText(this._word, word);
    const facts = headline(snapshot, index, elapsedS);
    setText(this._facts, facts);
    setAttribute(this._facts, "title", facts);
    setText(this._name, snapshot.graph.name);
    setAttribute(this._name, "title", snapshot.graph.name);
  }
}
