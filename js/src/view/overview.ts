/** The whole graph in the corner, shown while the canvas doesn't: one path for each state, and the part in view. */

import { lookUp } from "../core/record.ts";
import type { NodeStatus, Snapshot, WireLayout } from "../protocol/generated.ts";
import { html, on, setAttribute, svg } from "./dom.ts";
import type { Stage } from "./stage.ts";

/** It stands in the shelf below the picture, between the zoom buttons and the legend. */
const SIZE = { w: 260, h: 60 } as const;
const NARROW = { w: 96, h: 60 } as const;
/** In a low view every row counts: it fits beside the buttons. */
const LOW = { w: 110, h: 30 } as const;
const LOW_VIEW = 340;
const BESIDE = { w: 120, h: 300 } as const;
const BESIDE_GAP = 20;
const LOW_SHELF = 44;
const SHELF_PAD = 20;
const ORDER: readonly NodeStatus[] = ["idle", "skipped", "done", "queued", "waiting", "paused", "running", "failed"];

export class Overview {
  readonly element: HTMLElement;
  private readonly _paths = new Map(ORDER.map((status) => [status, svg("path", { class: status })] as const));
  private readonly _seen = svg("rect.seen");
  private readonly _canvas: SVGSVGElement;
  private _scale = 1;
  private _snapshot: Snapshot | null = null;

  constructor(
    private readonly _stage: Stage,
    private readonly _layout: WireLayout,
    private readonly _groups: ReadonlySet<string>,
    signal: AbortSignal,
  ) {
    const w = Math.max(1, _layout.width);
    const h = Math.max(1, _layout.height);
    this._canvas = svg("svg", { viewBox: `0 0 ${w} ${h}` });
    this._canvas.append(...this._paths.values(), this._seen);
    this.element = html("div.overview", { "aria-hidden": "true" }, this._canvas);
    on(this._canvas, "pointerdown", (event) => this._jump(event), signal);
    on(this._canvas, "pointermove", (event) => event.buttons === 1 && this._jump(event), signal);
  }

  update(snapshot: Snapshot): void {
    this._snapshot = snapshot;
    if (this.element.hidden) return;
    const shapes = new Map<NodeStatus, string>();
    for (const [id, box] of Object.entries(this._layout.boxes)) {
      if (this._groups.has(id)) continue;
      const status = lookUp(snapshot.nodes, id)?.status ?? "idle";
      shapes.set(status, `${shapes.get(status) ?? ""}M${box.x} ${box.y}h${box.w}v${box.h}h${-box.w}Z`);
    }
    for (const [status, path] of this._paths) setAttribute(path, "d", shapes.get(status) ?? "");
  }

  place(): void {
    const all = this._stage.showsAll();
    const appears = this.element.hidden && !all;
    this.element.hidden = all;
    if (all) return this._stage.setShelf(0);
    if (appears && this._snapshot !== null) this.update(this._snapshot);
    this._resize(this._besideGraph());
    const { x, y, w, h } = this._stage.visible(0);
    for (const [name, value] of Object.entries({ x, y, width: w, height: h })) setAttribute(this._seen, name, value);
    setAttribute(this._seen, "stroke-width", 1.5 / this._scale);
  }

  /** A high graph leaves room at its right, where the overview can be high too. */
  private _besideGraph(): boolean {
    const { view } = this._stage;
    const { x, w } = this._stage.screenBox({ x: 0, y: 0, w: this._layout.width, h: 1 });
    const wide = Math.min(BESIDE.w, (BESIDE.h * this._layout.width) / Math.max(1, this._layout.height));
    return this._layout.height > this._layout.width && view.w - x - w >= wide + 2 * BESIDE_GAP;
  }

  private _resize(beside: boolean): void {
    const { width, height } = this._layout;
    const { view } = this._stage;
    const isLow = view.h < LOW_VIEW;
    const most = beside ? BESIDE : isLow ? LOW : view.w < 640 ? NARROW : SIZE;
    this.element.classList.toggle("beside", beside);
    this._scale = Math.min(most.w / Math.max(1, width), most.h / Math.max(1, height));
    setAttribute(this._canvas, "width", width * this._scale);
    setAttribute(this._canvas, "height", height * this._scale);
    if (beside) this._stage.setShelf(LOW_SHELF, width * this._scale + BESIDE_GAP);
    else this._stage.setShelf(isLow ? LOW_SHELF : Math.max(LOW_SHELF, Math.ceil(height * this._scale) + SHELF_PAD));
  }

  private _jump(event: PointerEvent): void {
    const at = this._canvas.getBoundingClientRect();
    const { camera, view } = this._stage;
    // By its share of what is seen: a style may show the overview smaller.
    const x = ((event.clientX - at.left) / Math.max(1, at.width)) * this._layout.width;
    const y = ((event.clientY - at.top) / Math.max(1, at.height)) * this._layout.height;
    this._stage.moveTo(view.w / 2 - x * camera.scale, view.h / 2 - y * camera.scale);
  }
}
