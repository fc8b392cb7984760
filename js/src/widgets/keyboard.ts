/** Keys and clicks on the graph: one tab stop for all nodes, arrows along the edges, Enter opens, Escape goes back. */

import { type Action, actionOf, neighbour } from "../core/keys.ts";
import { setAttribute } from "../view/dom.ts";
import type { Scene } from "../view/scene.ts";

/** What keys can set off besides moving the focus. */
export interface KeyTarget {
  open(node: string): void;
  back(): boolean;
  act(action: Exclude<Action["type"], "move" | "open" | "back">): void;
  reveal(node: string): void;
}

export class Keyboard {
  private scene: Scene | null = null;
  private current: string | null = null;

  constructor(
    root: HTMLElement,
    canvas: SVGElement,
    private readonly target: KeyTarget,
    signal: AbortSignal,
  ) {
    root.addEventListener("keydown", (event) => this.press(event), { signal });
    canvas.addEventListener("click", (event) => this.click(event), { signal });
    canvas.addEventListener("focusin", (event) => this.focused(nodeAt(event.target)), { signal });
  }

  /** Takes a new drawing; the tab stop stays at the node of the same name, else goes to the first. */
  attach(scene: Scene): void {
    this.scene = scene;
    const { nodes, graph } = scene.index;
    this.current = this.current !== null && nodes.has(this.current) ? this.current : (graph.nodes[0]?.id ?? null);
    this.setStop(this.current, 0);
  }

  focus(node: string): void {
    this.scene?.picture.nodeElement(node)?.focus({ preventScroll: true });
  }

  private press(event: KeyboardEvent): void {
    const node = nodeAt(event.target);
    const action = actionOf(event);
    // Buttons, folds and text that scrolls keep their own keys.
    if (action === null || (node === null && needsNode(action))) return;
    if (this.perform(action, node)) {
      event.preventDefault();
      event.stopPropagation();
    }
  }

  /** False if the key meant nothing here and belongs to the notebook. */
  private perform(action: Action, node: string | null): boolean {
    switch (action.type) {
      case "move":
        return node !== null && this.move(node, action.direction);
      case "open":
        if (node !== null) this.target.open(node);
        return node !== null;
      case "back":
        return this.target.back();
      default:
        this.target.act(action.type);
        return true;
    }
  }

  private move(from: string, direction: Parameters<typeof neighbour>[3]): boolean {
    if (this.scene === null) return false;
    const next = neighbour(this.scene.index, this.scene.layout, from, direction);
    if (next === null) return true;
    this.target.reveal(next);
    this.focus(next);
    return true;
  }

  private click(event: MouseEvent): void {
    const node = nodeAt(event.target);
    if (node === null) return;
    this.focus(node);
    this.target.open(node);
  }

  private focused(node: string | null): void {
    if (node === null || node === this.current) return;
    this.setStop(this.current, -1);
    this.setStop(node, 0);
    this.current = node;
  }

  private setStop(node: string | null, tabIndex: 0 | -1): void {
    const element = node === null ? null : this.scene?.picture.nodeElement(node);
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
