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
  readonly element = html("ul.tree", { role: "tree", "aria-label": "State" });
  private readonly _rows = new Keyed(this.element);
  private readonly _openings: Openings;
  private readonly _edits = new Map<string, EditRow>();
  private readonly _settleFocus: () => void;
  private _view: PanelView | null = null;

  constructor(
    private readonly _desk: Desk,
    signal: AbortSignal,
  ) {
    this._openings = new Openings(_desk, () => this._draw());
    this._settleFocus = walkTree(
      this.element,
      { toggle: (id, open) => this._openings.set(id, open), edit: (key) => void this.edit(key) },
      signal,
    );
  }

  update(view: PanelView): void {
    this._view = view;
    this._draw();
  }

  /** Opens the field for a key; null takes the row with the focus, else what changed last, else the first. */
  async edit(key: string | null): Promise<void> {
    const keys = this._view?.state.state ?? [];
    const wanted = key ?? this._focusedKey() ?? keys.find((one) => one.change !== "")?.key ?? keys[0]?.key;
    const found = keys.find((one) => one.key === wanted);
    if (found === undefined || this._view?.saved) return;
    if (!this._edits.has(found.key)) this._edits.set(found.key, await this._fieldFor(found));
    this._draw();
    this._edits.get(found.key)?.start();
  }

  private async _fieldFor(key: WireKey): Promise<EditRow> {
    const close = () => {
      this._edits.delete(key.key);
      this._draw();
      this._focusRow(key.key);
    };
    return new EditRow(key.key, key.value.text, await this._wholeOf(key), this._desk, close);
  }

  /** The value as it can be typed: its preview if that is whole, else asked for. */
  private async _wholeOf(key: WireKey): Promise<string> {
    if (!key.value.cut && !key.opens) return key.value.text;
    const reply = await this._desk.ask({ type: "inspect_key", key: key.key, path: [] });
    const result = reply?.ok === true ? reply.result : null;
    return result !== null && "text" in result ? result.text : key.value.text;
  }

  private _focusedKey(): string | null {
    const id = document.activeElement?.closest(".tree [data-key]")?.getAttribute("data-key");
    return id === null || id === undefined ? null : String(JSON.parse(id)[0]);
  }

  private _focusRow(key: string): void {
    for (const element of this.element.querySelectorAll<HTMLElement>("[data-key]"))
      if (element.dataset.key === idOf(key, [])) element.focus({ preventScroll: true });
  }

  private _draw(): void {
    const { _view: view } = this;
    if (view === null) return;
    this._rows.update(view.state.state.map((key) => this._part(key, view)));
    this._settleFocus();
  }

  private _part(key: WireKey, view: PanelView): Part {
    const edit = this._edits.get(key.key);
    if (edit !== undefined) return { key: key.key, version: "edit", make: () => edit.element };
    const stamp = JSON.stringify([view.state.branch, view.state.looking ?? view.state.step, view.state.inside, key]);
    const open = this._isOpen(key, view);
    const inside = open ? this._insideOf(key, stamp) : [];
    const version = JSON.stringify([key, open, view.saved, inside.map((one) => one.outerHTML)]);
    return { key: key.key, version, make: () => this._keyItem(key, open, view.saved, inside) };
  }

  private _keyItem(key: WireKey, open: boolean, saved: boolean, inside: readonly HTMLElement[]): HTMLElement {
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
      toggle: () => this._openings.set(id, !open),
      ...(saved ? {} : { edit: () => void this.edit(key.key) }),
    });
    return html("li", { class: key.change === "" ? "" : `chg ${key.change}`, role: "none" }, head, ...inside);
  }

  /** What changed is open without being asked, as far as it is little and nothing runs. */
  private _isOpen(key: WireKey, view: PanelView): boolean {
    if (!canOpen(key)) return false;
    const changed = view.state.state.filter((one) => one.change !== "" && canOpen(one));
    const isRunning = view.state.looking === null && view.state.status === "running";
    const unasked = !isRunning && !view.saved && changed.slice(0, MOST_OPENED_UNASKED).includes(key);
    return this._openings.isOpen(idOf(key.key, []), unasked);
  }

  private _insideOf(key: WireKey, stamp: string): HTMLElement[] {
    const { result, fault } = this._openings.inside(key.key, [], stamp);
    if (fault !== "") return [html("p.whole.dim", fault)];
    if (result === null) return [];
    const before = result.before ?? null;
    if (result.children.length > 0 || (before?.children.length ?? 0) > 0)
      return [...this._children(key.key, result.children, before?.children ?? null, 1, stamp), ...more(result.more)];
    const old = before?.text ?? (key.change === "changed" && key.before?.cut === false ? key.before.text : null);
    return [old === null ? wholeText(result.text) : textDiff(old, result.text)];
  }

  private _children(
    key: string,
    now: readonly ValueChild[],
    before: readonly ValueChild[] | null,
    depth: number,
    stamp: string,
  ): HTMLElement[] {
    const rows = childRows(now, before, (id) => this._openings.isOpen(`run ${id}`));
    return rows.flatMap((one) => {
      if (one.kind === "run") return [this._runRow(one, depth)];
      const { child, change } = one;
      const id = idOf(key, child.path);
      const open = child.opens && change !== "removed" && this._openings.isOpen(id);
      const head = row({
        id,
        name: child.label,
        change,
        open: child.opens && change !== "removed" ? open : null,
        value: valueText(child.value),
        said: child.value.text,
        depth,
        toggle: () => this._openings.set(id, !open),
      });
      head.classList.toggle("add", change === "added");
      return open ? [head, ...this._deeper(key, child.path, depth + 1, stamp)] : [head];
    });
  }

  private _deeper(key: string, path: Path, depth: number, stamp: string): HTMLElement[] {
    const { result, fault } = this._openings.inside(key, path, stamp);
    if (result === null) return fault === "" ? [] : [html("p.whole.dim", fault)];
    if (result.children.length === 0) return [wholeText(result.text)];
    return [...this._children(key, result.children, null, depth, stamp), ...more(result.more)];
  }

  private _runRow(run: { from: string; to: string; count: number; id: string }, depth: number): HTMLElement {
    const value = html("span.val.dim", `${run.count} unchanged`);
    const id = `run ${run.id}`;
    const name = `${run.from}–${run.to}`;
    const toggle = () => this._openings.set(id, true);
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
  return count === 0 ? [] : [html("p.whole.dim", `${count.toLocaleString("en-US")} more aren't shown.`)];
}
