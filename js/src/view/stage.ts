/**
 * The canvas behind the picture: its size, and the camera. A touch of the user's own holds automatic moves back for a
 * while.
 */

import {
  type Camera,
  centred,
  fitScale,
  kept,
  MARGIN,
  READABLE_SCALE,
  revealing,
  type Size,
  toScreen,
  visibleBox,
  zoomAbout,
} from "../core/camera.ts";
import { atEnd } from "../core/ending.ts";
import type { WireBox, WireLayout } from "../protocol/generated.ts";
import { html, setAttribute, svg } from "./dom.ts";
import { listenForGestures } from "./gestures.ts";
import { GEOMETRY } from "./glyph.ts";
import { showTooltips } from "./tooltips.ts";

export const TOUCH_REST_MS = 3000;
export const FOLLOW_REST_MS = 1000;
const STRIP = 236; // room for callouts at the right, where there is some
const ROOM = 90; // round what is brought into view: what comes next shows too
const BUTTONS = 40; // at the foot of the view: nothing of the picture may lie there unseen
const HEIGHT = { least: 200, most: 820 } as const;

export class Stage {
  readonly element: HTMLDivElement;
  readonly svg: SVGSVGElement;
  /** Moves and scales with the picture. */
  readonly world = svg("g.world");
  /** Stays in screen pixels; above the picture. */
  readonly overlay = svg("g.overlay");
  /** Stays in screen pixels; below the picture. */
  readonly underlay = svg("g.underlay");
  camera: Camera = { scale: 1, x: 0, y: 0 };
  view: Size = { w: 0, h: 0 };
  /** What the buttons and the overview take at the foot of a view that is smaller than its picture. */
  shelf = 0;
  beside = 0;
  /** Nodes start faster than an eye can follow: nothing is to glide or turn. */
  hasty = false;
  /** Counts how often the picture was put where it is first looked at, as after every new width. */
  settled = 0;
  private _content: Size = { w: 1, h: 1 };
  private _touchedAtMs = Number.NEGATIVE_INFINITY;
  private _revealedAtMs = Number.NEGATIVE_INFINITY;
  private _fitted = true;
  private readonly _watchers: (() => void)[] = [];

  /**
   * @param _panelWidth What a panel beside the stage takes when it opens, null if none ever does; the picture keeps clear
   *   of it where it can, so that opening one moves nothing.
   */
  constructor(
    private readonly _panelWidth: number | null,
    signal: AbortSignal,
    /** The height of the view for the height that the picture would like. */
    private readonly _bounded = (wanted: number) => Math.min(HEIGHT.most, Math.max(HEIGHT.least, wanted)),
  ) {
    // An SVG that listens for the focus is a tab stop of its own, unless it says no.
    this.svg = svg("svg.graph", { role: "group", tabindex: -1 }, this.underlay, this.world, this.overlay);
    this.element = html("div.stage", this.svg);
    listenForGestures(this.element, this.svg, this, signal);
    showTooltips(this.svg, signal);
    const observer = new ResizeObserver(() => this._resized());
    observer.observe(this.element);
    atEnd(signal, () => observer.disconnect());
  }

  onCamera(watcher: () => void): void {
    this._watchers.push(watcher);
  }

  /** Takes a new picture of this size; the view's height is set once by it, so a run never changes it. */
  setContent(content: Size): void {
    this._content = content;
    this._fitted = true;
    this._resized();
  }

  /** The widest the graph can stand beside a panel of `panelW` and still be read. */
  hasRoomBeside(panelW: number, width: number): boolean {
    return width - panelW >= this._content.w * READABLE_SCALE + 40;
  }

  fit(): void {
    this._fitted = true;
    this._move(centred(this._content, this.view, fitScale(this._content, this.view), this._strip(1)));
  }

  zoom(factor: number, x = this.view.w / 2, y = this.view.h / 2): void {
    this.touch();
    this._move(zoomAbout(this.camera, factor, x, y));
  }

  zoomFull(): void {
    this.zoom(1 / this.camera.scale);
  }

  /** Brings a box of the picture into view, smoothly unless motion is unwanted. */
  reveal(box: WireBox, smooth: boolean): void {
    const seen = { w: this.view.w, h: this.view.h - this.shelf };
    const target = revealing(this.camera, box, seen, Math.min(ROOM, seen.h / 3));
    if (target.x === this.camera.x && target.y === this.camera.y) return;
    this._revealedAtMs = performance.now();
    this.world.classList.toggle("gliding", smooth && !this.hasty);
    this._move(target);
  }

  screenBox(box: WireBox): WireBox {
    return toScreen(this.camera, box);
  }

  /** All nodes but `id` and the frames around nodes, on screen. */
  otherBoxes(layout: WireLayout, id: string, frames: ReadonlySet<string>): WireBox[] {
    return Object.entries(layout.boxes)
      .filter(([other]) => other !== id && !frames.has(other))
      .map(([, box]) => this.screenBox(box));
  }

  /** The whole picture is in view. */
  showsAll(): boolean {
    const at = this.screenBox({ x: 0, y: 0, ...this._content });
    return at.x >= -1 && at.y >= -1 && at.x + at.w <= this.view.w + 1 && at.y + at.h <= this.view.h - BUTTONS;
  }

  /** @param besidePx What the overview takes at the right instead. */
  setShelf(px: number, besidePx = 0): void {
    this.beside = besidePx;
    if (px === this.shelf) return;
    this.shelf = px;
    this.element.classList.toggle("roams", px > 0);
    this.element.style.setProperty("--shelf", `${px}px`);
  }

  visible(margin: number): WireBox {
    return visibleBox(this.camera, this.view, margin);
  }

  untouched(): boolean {
    return performance.now() - this._touchedAtMs > TOUCH_REST_MS;
  }

  /** Whether the picture has stood long enough to be read: with nodes at work all over it, it would never stand. */
  rested(): boolean {
    return performance.now() - this._revealedAtMs > FOLLOW_REST_MS;
  }

  touch(): void {
    this._touchedAtMs = performance.now();
    this._fitted = false;
    this.world.classList.remove("gliding");
  }

  moveTo(x: number, y: number): void {
    this.touch();
    this._move({ ...this.camera, x, y });
  }

  private _move(camera: Camera): void {
    this.camera = kept(camera, this._content, this.view);
    const { scale, x, y } = this.camera;
    this.world.style.transform = `translate(${x}px, ${y}px) scale(${scale})`;
    // No custom properties: those are inherited, so each move would style every part of the picture anew.
    const step = `${gridStep(scale)}px`;
    Object.assign(this.element.style, { backgroundSize: `${step} ${step}`, backgroundPosition: `${x}px ${y}px` });
    for (const watcher of this._watchers) watcher();
  }

  private _resized(): void {
    const width = this.element.clientWidth;
    if (width === 0) return;
    const scale = Math.max(READABLE_SCALE, Math.min(1, (width - 68) / this._content.w));
    const height = Math.round(this._bounded(this._content.h * scale + MARGIN.top + MARGIN.bottom));
    (this.element.parentElement ?? this.element).style.setProperty("--stage-h", `${height}px`);
    this.view = { w: width, h: Math.max(height, this.element.clientHeight) };
    setAttribute(this.svg, "width", this.view.w);
    setAttribute(this.svg, "height", this.view.h);
    if (this._fitted) this._settle();
    else this._move(this.camera);
  }

  /** The first look: everything if it can be read, else from the top at the smallest size that can. */
  private _settle(): void {
    this.settled += 1;
    this._revealedAtMs = Number.NEGATIVE_INFINITY; // what was brought into view is out of it again
    const scale = Math.max(READABLE_SCALE, fitScale(this._content, this.view));
    this._move(centred(this._content, this.view, scale, this._strip(scale)));
  }

  /** What stays free at the right: for a panel if there is room for one, else for callouts, else nothing. */
  private _strip(scale: number): number {
    const whole = this.element.parentElement?.clientWidth ?? this.view.w;
    const open = whole - this.view.w;
    const free = whole - this._content.w * scale - 2 * MARGIN.x;
    // A picture with no panel to come stays in the middle, and gives way no further than a callout needs.
    if (this._panelWidth === null) return free - open < STRIP ? 0 : Math.max(0, 2 * (STRIP - MARGIN.x) - (free - open));
    if (free >= this._panelWidth) return Math.max(0, this._panelWidth - open);
    return free - open >= STRIP ? STRIP : 0;
  }
}

/** The dots of the canvas move with the picture, but never so close that they turn grey. */
function gridStep(scale: number): number {
  let step = GEOMETRY.stage.grid_step * scale;
  while (step < 12) step *= 2;
  return step;
}
