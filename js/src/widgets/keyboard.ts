/** Keys and clicks on the graph: one tab stop for all nodes, arrows along the edges, Enter opens, Escape goes back. */

import { type Action, actionOf, neighbour } from "../core/keys.ts";
import { on, setAttribute } from "../view/dom.ts";
import type { Scene } from "../view/scene.ts";

/** What keys can set off besides moving the focus. */
export interface KeyTarget {
  open(node: string): void;
  back(): boolean;
  act(action: Exclude<Action["type"], "move" | "open" | "back">): void;
  reveal(node: string): void;
}

export class Keyboard {
  private _scene: Scene | null = null;
  private _current: string | null = null;

  constructor(
    root: HTMLElement,
    canvas: SVGElement,
    private readonly _target: KeyTarget,
    signal: AbortSignal,
  ) {
    on(root, "keydown", (event) => this._press(event), signal);
    on(canvas, "click", (event) => this._click(event), signal);
    on(canvas, "focusin", (event) => this._focused(nodeAt(event.target)), signal);
  }

  /** Takes a new drawing; the tab stop stays at the node of the same name, else goes to the first. */
  attach(scene: Scene): void {
    this._scene = scene;
    const { nodes, graph } = scene.index;
    this._current = this._current !== null && nodes.has(this._current) ? this._current : (graph.nodes[0]?.id ?? null);
    this._setStop(this._current, 0);
  }

  focus(node: string): void {
    this._scene?.picture.nodeElement(node)?.focus({ preventScroll: true });
  }

  private _press(event: KeyboardEvent): void {
    const node = nodeAt(event.target);
    const action = actionOf(event);
    // Buttons, folds and text that scrolls keep their own keys.
    if (action === null || (node === null && needsNode(action))) return;
    if (this._perform(action, node)) {
      event.preventDefault();
      event.stopPropagation();
    }
  }

  /** False if the key meant nothing here and belongs to the notebook. */
  private _perform(action: Action, node: string | null): boolean {
    switch (action.type) {
      case "move":
        return node !== null && this._move(node, action.direction);
      case "open":
        if (node !== null) this._target.open(node);
        return node !== null;
      case "back":
        return this._target.back();
      default:
        this._target.act(action.type);
        return true;
    }
  }

  private _move(from: string, direction: Parameters<typeof neighbour>[3]): boolean {
    if (this._scene === null) return false;
    const next = neighbour(this._scene.index, this._scene.layout, from, direction);
    if (next === null) return true;
    this._target.reveal(next);
    this.focus(next);
    return true;
  }

  private _click(event: MouseEvent): void {
    const node = nodeAt(event.target);
    if (node === null) return;
    this.focus(node);
    this._target.open(node);
  }

  private _focused(node: string | null): void {
    if (node === null || node === this._current) return;
    this._setStop(this._current, -1);
    this._setStop(node, 0);
    this._current = node;
  }

  private _setStop(node: string | null, tabIndex: 0 | -1): void {
    const element = node === null ? null : this._scene?.picture.nodeElement(node);
    if (element) setAttribute(element, "tabindex", tabIndex);
  }
}

function needsNode(action: Action): boolean {
  return action.type === "move" || action.type === "open";
}

function nodeAt(target: EventTarget | null): string | null {
  const element = target instanceof Element ? target.closest("[data-node]") : null;
  return element?.getAttribute("data-node") ?? null;
}
