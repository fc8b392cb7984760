/** Zoom, fit and follow by mouse; the same by keys. */

import { html, on, setAttribute, setText } from "./dom.ts";
import { iconButton } from "./icon_button.ts";

export interface ZoomActions {
  zoomIn(): void;
  zoomOut(): void;
  zoomFull(): void;
  fit(): void;
  follow(): void;
}

export class ZoomBar {
  readonly element: HTMLElement;
  private readonly _percent = html("button.pct", { type: "button", title: "Show at 100 %  0" });
  private readonly _followButton = iconButton("follow", "Follow the running node", "O");

  constructor(actions: ZoomActions, signal: AbortSignal) {
    const out = iconButton("minus", "Zoom out", "−");
    const into = iconButton("plus", "Zoom in", "+");
    const fit = iconButton("fit", "Show the whole graph", "F");
    this.element = html(
      "div.zoom",
      { role: "group", "aria-label": "Zoom" },
      out,
      this._percent,
      into,
      fit,
      this._followButton,
    );
    const wire = (button: HTMLElement, action: () => void) => on(button, "click", action, signal);
    wire(out, actions.zoomOut);
    wire(into, actions.zoomIn);
    wire(this._percent, actions.zoomFull);
    wire(fit, actions.fit);
    wire(this._followButton, actions.follow);
  }

  update(scale: number, follows: boolean): void {
    setText(this._percent, `${Math.round(scale * 100)} %`);
    setAttribute(this._followButton, "aria-pressed", String(follows));
  }
}
