/** The whole graph in the corner, shown while the canvas doesn't: one path for each state, and the part in view. */

import { lookUp } from "../core/record.ts";
import type { NodeStatus, Snapshot, WireLayout } from "../protocol/generated.ts";
import { html, setAttribute, svg } from "./dom.ts";
import type { Stage } from "./stage.ts";

/** It stands in the shelf below the picture, between the zoom buttons and the legend. */
const SIZE = { w: 260, h: 60 } as const;
const NARROW = { w: 96, h: 60 } as const;
const BESIDE = { w: 120, h: 300 } as const;
const BESIDE_GAP = 20;
const LOW_SHELF = 44;
const SHELF_PAD = 20;
const ORDER: readonly NodeStatus[] = ["idle", "skipped", "done", "queued", "waiting", "paused", "running", "failed"];

export class Overview {
  readonly element: HTMLElement;
  private readonly paths = new Map(ORDER.map((status) => [status, svg("path", { class: status })] as const));
  private readonly seen = svg("rect", { class: "seen" });
  private readonly canvas: SVGSVGElement;
  private scale = 1;
  private snapshot: Snapshot | null = null;

  constructor(
    private readonly stage: Stage,
    private readonly layout: WireLayout,
    private readonly groups: ReadonlySet<string>,
    signal: AbortSignal,
  ) {
    const w = Math.max(1, layout.width);
    const h = Math.max(1, layout.height);
    this.canvas = svg("svg", { viewBox: `0 0 ${w} ${h}` });
    this.canvas.append(...this.paths.values(), this.seen);
    this.element = html("div", { class: "overview", "aria-hidden": "true" }, this.canvas);
    this.canvas.addEventListener("pointerdown", (event) => this.jump(event), { signal });
    this.canvas.addEventListener("pointermove", (event) => event.buttons === 1 && this.jump(event), { signal });
  }

  update(snapshot: Snapshot): void {
    this.snapshot = snapshot;
    if (this.element.hidden) return;
    const shapes = new Map<NodeStatus, string>();
    for (const [id, box] of Object.entries(this.layout.boxes)) {
      if (this.groups.has(id)) continue;
      const status = lookUp(snapshot.nodes, id)?.status ?? "idle";
      shapes.set(status, `${shapes.get(status) ?? ""}M${box.x} ${box.y}h${box.w}v${box.h}h${-box.w}Z`);
    }
    for (const [status, path] of this.paths) setAttribute(path, "d", shapes.get(status) ?? "");
  }

  place(): void {
    const all = this.stage.showsAll();
    const appears = this.element.hidden && !all;
    this.element.hidden = all;
    if (all) return this.stage.setShelf(0);
    if (appears && this.snapshot !== null) this.update(this.snapshot);
    this.resize(this.besideGraph());
    const { x, y, w, h } = this.stage.visible(0);
    for (const [name, value] of Object.entries({ x, y, width: w, height: h })) setAttribute(this.seen, name, value);
    setAttribute(this.seen, "stroke-width", 1.5 / this.scale);
  }

  /** A high graph leaves room at its right, where the overview can be high too. */
  private besideGraph(): boolean {
    const { view } = this.stage;
    const { x, w } = this.stage.screenBox({ x: 0, y: 0, w: this.layout.width, h: 1 });
    const wide = Math.min(BESIDE.w, (BESIDE.h * this.layout.width) / Math.max(1, this.layout.height));
    return this.layout.height > this.layout.width && view.w - x - w >= wide + 2 * BESIDE_GAP;
  }

  private resize(beside: boolean): void {
    const { width, height } = this.layout;
    const most = beside ? BESIDE : this.stage.view.w < 640 ? NARROW : SIZE;
    this.element.classList.toggle("beside", beside);
    this.scale = Math.min(most.w / Math.max(1, width), most.h / Math.max(1, height));
    setAttribute(this.canvas, "width", width * this.scale);
    setAttribute(this.canvas, "height", height * this.scale);
    if (beside) this.stage.setShelf(LOW_SHELF, width * this.scale + BESIDE_GAP);
    else this.stage.setShelf(Math.max(LOW_SHELF, Math.ceil(height * this.scale) + SHELF_PAD));
  }

  private jump(event: PointerEvent): void {
    const at = this.canvas.getBoundingClientRect();
    const { camera, view } = this.stage;
    // By its share of what is seen: a style may show the overview smaller.
    const x = ((event.clientX - at.left) / Math.max(1, at.width)) * this.layout.width;
    const y = ((event.clientY - at.top) / Math.max(1, at.height)) * this.layout.height;
    this.stage.moveTo(view.w / 2 - x * camera.scale, view.h / 2 - y * camera.scale);
  }
}
