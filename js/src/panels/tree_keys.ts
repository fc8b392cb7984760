/** Keys of a tree that is one tab stop: up and down, right opens, left closes or goes out, Enter edits or opens. */

import { on } from "../view/dom.ts";

export interface TreeActions {
  toggle(id: string, open: boolean): void;
  edit(key: string): void;
}

/** Returns what puts the one tab stop back after the rows were drawn anew. */
export function walkTree(tree: HTMLElement, actions: TreeActions, signal: AbortSignal): () => void {
  let current: string | null = null;
  const rows = () => [...tree.querySelectorAll<HTMLElement>('[role="treeitem"]')];
  const settle = () => {
    const all = rows();
    const stop = all.find((row) => row.dataset.key === current) ?? all[0];
    for (const row of all) row.tabIndex = row === stop ? 0 : -1;
  };
  const goTo = (row: HTMLElement | undefined) => row?.focus();
  const press = (event: KeyboardEvent) => {
    const row = event.target as HTMLElement;
    if (row.getAttribute("role") !== "treeitem" || event.ctrlKey || event.metaKey || event.altKey) return;
    const all = rows();
    const at = all.indexOf(row);
    switch (event.key) {
      case "ArrowDown":
        goTo(all[at + 1]);
        break;
      case "ArrowUp":
        goTo(all[at - 1]);
        break;
      case "ArrowRight":
        if (expanded(row) === "false") toggle(row, actions, true);
        break;
      case "ArrowLeft":
        if (expanded(row) === "true") toggle(row, actions, false);
        else
          goTo(
            all
              .slice(0, at)
              .filter((one) => level(one) < level(row))
              .at(-1),
          );
        break;
      case "Enter":
      case " ":
        if (level(row) === 1 && event.key === "Enter") actions.edit(keyOf(row));
        else if (expanded(row) !== null) toggle(row, actions, expanded(row) === "false");
        break;
      default:
        return;
    }
    event.preventDefault();
    event.stopPropagation();
  };
  on(tree, "keydown", press, signal);
  on(
    tree,
    "focusin",
    (event) => {
      current = (event.target as HTMLElement).dataset.key ?? current;
      settle();
    },
    signal,
  );
  return settle;
}

// Attributes, not the properties that mirror them: those are younger than some browsers in use.
function expanded(row: HTMLElement): string | null {
  return row.getAttribute("aria-expanded");
}

function level(row: HTMLElement): number {
  return Number(row.getAttribute("aria-level"));
}

function keyOf(row: HTMLElement): string {
  return String(JSON.parse(row.dataset.key ?? "[]")[0]);
}

/** A row of folded neighbours opens under its own name. */
function toggle(row: HTMLElement, actions: TreeActions, open: boolean): void {
  const id = row.dataset.key ?? "";
  const name = keyOf(row);
  actions.toggle(name.startsWith("run [") ? name : id, open);
}
