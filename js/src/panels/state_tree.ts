/** The state as a tree of keys, with what the shown step did to it; opens into values, edits in place. */

import { childRows } from "../core/tree_diff.ts";
import type { ValueChild, WireKey } from "../protocol/generated_debugging.ts";
import { html } from "../view/dom.ts";
import { Keyed, type Part } from "../view/keyed.ts";
import type { Desk, PanelView } from "./desk.ts";
import { EditRow } from "./edit_row.ts";
import { idOf, Openings, type Path } from "./openings.ts";
import { keyValue, row, textDiff, valueText, wholeText } from "./state_row.ts";
import { walkTree } from "./tree_keys.ts";

const MOST_OPENED_UNASKED = 3;

export class StateTree {
  readonly element = html("ul", { class: "tree", role: "tree", "aria-label": "State" });
  private readonly rows = new Keyed(this.element);
  private readonly openings: Openings;
  private readonly edits = new Map<string, EditRow>();
  private readonly settleFocus: () => void;
  private view: PanelView | null = null;

  constructor(
    private readonly desk: Desk,
    signal: AbortSignal,
  ) {
    this.openings = new Openings(desk, () => this.draw());
    this.settleFocus = walkTree(
      this.element,
      { toggle: (id, open) => this.openings.set(id, open), edit: (key) => void this.edit(key) },
      signal,
    );
  }

  update(view: PanelView): void {
    this.view = view;
    this.draw();
  }

  /** Opens the field for a key; null takes the row with the focus, else what changed last, else the first. */
  async edit(key: string | null): Promise<void> {
    const keys = this.view?.state.state ?? [];
    const wanted = key ?? this.focusedKey() ?? keys.find((one) => one.change !== "")?.key ?? keys[0]?.key;
    const found = keys.find((one) => one.key === wanted);
    if (found === undefined || this.view?.saved) return;
    if (!this.edits.has(found.key)) this.edits.set(found.key, await this.fieldFor(found));
    this.draw();
    this.edits.get(found.key)?.start();
  }

  private async fieldFor(key: WireKey): Promise<EditRow> {
    const close = () => {
      this.edits.delete(key.key);
      this.draw();
      this.focusRow(key.key);
    };
    return new EditRow(key.key, key.value.text, await this.wholeOf(key), this.desk, close);
  }

  /** The value as it can be typed: its preview if that is whole, else asked for. */
  private async wholeOf(key: WireKey): Promise<string> {
    if (!key.value.cut && !key.opens) return key.value.text;
    const reply = await this.desk.ask({ type: "inspect_key", key: key.key, path: [] });
    const result = reply?.ok === true ? reply.result : null;
    return result !== null && "text" in result ? result.text : key.value.text;
  }

  private focusedKey(): string | null {
    const id = document.activeElement?.closest(".tree [data-key]")?.getAttribute("data-key");
    return id === null || id === undefined ? null : String(JSON.parse(id)[0]);
  }

  private focusRow(key: string): void {
    for (const element of this.element.querySelectorAll<HTMLElement>("[data-key]"))
      if (element.dataset.key === idOf(key, [])) element.focus({ preventScroll: true });
  }

  private draw(): void {
    const { view } = this;
    if (view === null) return;
    this.rows.update(view.state.state.map((key) => this.part(key, view)));
    this.settleFocus();
  }

  private part(key: WireKey, view: PanelView): Part {
    const edit = this.edits.get(key.key);
    if (edit !== undefined) return { key: key.key, version: "edit", make: () => edit.element };
    const stamp = JSON.stringify([view.state.branch, view.state.looking ?? view.state.step, key]);
    const open = this.isOpen(key, view);
    const inside = open ? this.insideOf(key, stamp) : [];
    const version = JSON.stringify([key, open, view.saved, inside.map((one) => one.outerHTML)]);
    return { key: key.key, version, make: () => this.keyItem(key, open, view.saved, inside) };
  }

  private keyItem(key: WireKey, open: boolean, saved: boolean, inside: readonly HTMLElement[]): HTMLElement {
    const id = idOf(key.key, []);
    const head = row({
      id,
      name: key.key,
      change: key.change,
      open: canOpen(key) ? open : null,
      value: keyValue(key, open),
      said: key.opens ? key.size : key.value.text,
      strategy: key.strategy,
      edited: key.edited,
      depth: 0,
      toggle: () => this.openings.set(id, !open),
      ...(saved ? {} : { edit: () => void this.edit(key.key) }),
    });
    return html("li", { class: key.change === "" ? "" : `chg ${key.change}`, role: "none" }, head, ...inside);
  }

  /** What changed is open without being asked, as far as it is little and nothing runs. */
  private isOpen(key: WireKey, view: PanelView): boolean {
    if (!canOpen(key)) return false;
    const changed = view.state.state.filter((one) => one.change !== "" && canOpen(one));
    const isRunning = view.state.looking === null && view.state.status === "running";
    const unasked = !isRunning && !view.saved && changed.slice(0, MOST_OPENED_UNASKED).includes(key);
    return this.openings.isOpen(idOf(key.key, []), unasked);
  }

  private insideOf(key: WireKey, stamp: string): HTMLElement[] {
    const { result, fault } = this.openings.inside(key.key, [], stamp);
    if (fault !== "") return [html("p", { class: "whole dim" }, fault)];
    if (result === null) return [];
    const before = result.before ?? null;
    if (result.children.length > 0 || (before?.children.length ?? 0) > 0)
      return [...this.children(key.key, result.children, before?.children ?? null, 1, stamp), ...more(result.more)];
    const old = before?.text ?? (key.change === "changed" && key.before?.cut === false ? key.before.text : null);
    return [old === null ? wholeText(result.text) : textDiff(old, result.text)];
  }

  private children(
    key: string,
    now: readonly ValueChild[],
    before: readonly ValueChild[] | null,
    depth: number,
    stamp: string,
  ): HTMLElement[] {
    const rows = childRows(now, before, (id) => this.openings.isOpen(`run ${id}`));
    return rows.flatMap((one) => {
      if (one.kind === "run") return [this.runRow(one, depth)];
      const { child, change } = one;
      const id = idOf(key, child.path);
      const open = child.opens && change !== "removed" && this.openings.isOpen(id);
      const head = row({
        id,
        name: child.label,
        change,
        open: child.opens && change !== "removed" ? open : null,
        value: valueText(child.value),
        said: child.value.text,
        depth,
        toggle: () => this.openings.set(id, !open),
      });
      head.classList.toggle("add", change === "added");
      return open ? [head, ...this.deeper(key, child.path, depth + 1, stamp)] : [head];
    });
  }

  private deeper(key: string, path: Path, depth: number, stamp: string): HTMLElement[] {
    const { result, fault } = this.openings.inside(key, path, stamp);
    if (result === null) return fault === "" ? [] : [html("p", { class: "whole dim" }, fault)];
    if (result.children.length === 0) return [wholeText(result.text)];
    return [...this.children(key, result.children, null, depth, stamp), ...more(result.more)];
  }

  private runRow(run: { from: string; to: string; count: number; id: string }, depth: number): HTMLElement {
    const value = html("span", { class: "val dim" }, `${run.count} unchanged`);
    const id = `run ${run.id}`;
    const name = `${run.from}–${run.to}`;
    const toggle = () => this.openings.set(id, true);
    return row({
      id: JSON.stringify([id]),
      name,
      change: "",
      open: false,
      value,
      said: `${run.count} unchanged`,
      depth,
      toggle,
    });
  }
}

function canOpen(key: WireKey): boolean {
  return key.opens || key.value.cut || key.before?.cut === true;
}

function more(count: number): HTMLElement[] {
  return count === 0 ? [] : [html("p", { class: "whole dim" }, `${count.toLocaleString("en-US")} more aren't shown.`)];
}
