/** The strip above the timeline of a long run: one bar for each stretch of steps, failures marked, a window on what is shown. */

import { type Bar, densityBars } from "../core/density.ts";
import type { DebugState, StepStatus } from "../protocol/generated_debugging.ts";
import { html, on, setAttribute, svg } from "./dom.ts";

const BARS = 160;
const HEIGHT = 26;
const LOOKS: Readonly<Record<StepStatus, string>> = {
  done: "done",
  failed: "failed",
  edited: "edited",
  pinned: "edited",
  skipped: "skipped",
};

export class DensityStrip {
  readonly element: HTMLElement;
  private readonly _canvas = svg("svg", {
    viewBox: `0 0 ${BARS} ${HEIGHT}`,
    preserveAspectRatio: "none",
    "aria-hidden": "true",
  });
  private _bars: readonly Bar[] = [];
  private _drawn = "";

  /** @param goTo Called with the number of the step that was clicked at. */
  constructor(goTo: (step: number) => void, signal: AbortSignal) {
    this.element = html("div.density", { hidden: true }, this._canvas);
    on(
      this._canvas,
      "click",
      (event) => {
        const at = this._canvas.getBoundingClientRect();
        const share = (event.clientX - at.left) / Math.max(1, at.width);
        const bar = this._bars[Math.floor(share * this._bars.length)];
        if (bar !== undefined) goTo(bar.last);
      },
      signal,
    );
  }

  update(state: DebugState, wanted: boolean): void {
    this.element.hidden = !wanted;
    if (!wanted) return;
    const shown = state.looking ?? state.step;
    const key = JSON.stringify([shown, state.branch, state.steps.length, state.steps.at(-1)]);
    if (key === this._drawn) return;
    this._drawn = key;
    this._bars = densityBars(state, BARS);
    const [first, last] = [this._bars[0]?.first, this._bars.at(-1)?.last];
    setAttribute(this.element, "data-hint", `Steps ${first} to ${last}; click to go there`);
    const width = BARS / Math.max(1, this._bars.length);
    const seen = this._bars.findIndex((bar) => shown <= bar.last);
    this._canvas.replaceChildren(
      ...this._bars.map((bar, i) => drawBar(bar, i * width, width)),
      svg("rect.seen", { x: (seen < 0 ? this._bars.length - 1 : seen) * width, y: 0, width, height: HEIGHT }),
    );
    setAttribute(this._canvas, "data-bars", this._bars.length);
  }
}

function drawBar(bar: Bar, x: number, width: number): SVGElement {
  const high = 4 + bar.height * (HEIGHT - 8);
  const isLoud = bar.look !== "done";
  return svg("rect", {
    class: `bar-${LOOKS[bar.look]} ${LOOKS[bar.look]}`,
    x: x + width * 0.12,
    y: isLoud ? 0 : HEIGHT - high,
    width: width * 0.76,
    height: isLoud ? HEIGHT : high,
  });
}
