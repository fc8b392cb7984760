/** The list of breakpoints: on and off, what they hang on, how often they were hit; add, change, remove. */

import { plural } from "../core/format.ts";
import { lookOf } from "../core/overlay.ts";
import type { WireBreakpoint } from "../protocol/generated_debugging.ts";
import { button } from "../view/controls.ts";
import { breakpointIcon, debugIcon } from "../view/debug_icons.ts";
import { html, on } from "../view/dom.ts";
import { icon } from "../view/glyph.ts";
import { Keyed, type Part } from "../view/keyed.ts";
import { BreakpointForm, blankDraft, commandOf, type Draft } from "./breakpoint_form.ts";
import type { Desk, Panel, PanelView } from "./desk.ts";

export class BreakpointsPanel implements Panel {
  readonly element: HTMLElement;
  private readonly _list = html("ul.cards");
  private readonly _rows = new Keyed(this._list);
  private readonly _place = html("div");
  private readonly _empty = html("p.none", "Click a node's left border or press ", html("kbd", "B"), ".");
  private readonly _add: HTMLButtonElement;
  private _view: PanelView | null = null;
  private _editing: { id: string | null; form: BreakpointForm } | null = null;

  constructor(private readonly _desk: Desk) {
    this._add = button("Add", () => this._open(blankDraft(_desk.chosen)), { key: "⇧B" });
    const cap = html("div.cap", html("span", "Breakpoints"), this._add);
    this.element = html("div.panel.p-bp.scroll", cap, this._place, this._list, this._empty);
  }

  update(view: PanelView): void {
    this._view = view;
    const { breakpoints } = view.state;
    this._add.hidden = view.saved;
    this._empty.hidden = breakpoints.length > 0 || this._editing !== null;
    if (this._editing?.id === null) this._place.replaceChildren(this._editing.form.element);
    else this._place.replaceChildren();
    this._rows.update(breakpoints.map((one) => this._part(one, view)));
  }

  /** Opens the form for a new breakpoint at a node, or for the one that is there. */
  openAt(node: string | null): void {
    const known = this._view?.state.breakpoints.find((one) => one.kind === "node" && one.node === node);
    this._open(known ?? blankDraft(node));
  }

  private _open(draft: Draft): void {
    const { _view: view } = this;
    if (view === null) return;
    const close = () => {
      this._editing = null;
      if (this._view !== null) this.update(this._view);
      this._add.focus();
    };
    const form = new BreakpointForm(draft, view.nodes, view.snapshot.graph.edges, view.names, this._desk, close);
    this._editing = { id: draft.id, form };
    this.update(view);
    form.start();
  }

  private _part(one: WireBreakpoint, view: PanelView): Part {
    const form = this._editing?.id === one.id ? this._editing.form : null;
    return {
      key: one.id,
      version: JSON.stringify([one, form !== null, view.saved]),
      make: () => this._card(one, view, form),
    };
  }

  private _card(one: WireBreakpoint, view: PanelView, form: BreakpointForm | null): HTMLElement {
    if (form !== null) return html("li", form.element);
    const box = html("input", {
      type: "checkbox",
      "aria-label": `On: ${one.text}`,
      checked: one.enabled,
      "data-key": `on ${one.id}`,
    });
    box.disabled = view.saved;
    on(box, "change", () => void this._desk.send(commandOf({ ...one, enabled: box.checked })));
    const drop = () => void this._desk.send({ type: "remove_breakpoint", id: one.id });
    const tools = [
      button("", () => this._open(one), {
        name: `Change: ${one.text}`,
        icon: debugIcon("pencil"),
        dataKey: `edit ${one.id}`,
      }),
      button("", drop, { name: `Remove: ${one.text}`, icon: icon("close"), dataKey: `drop ${one.id}` }),
    ];
    const hits = html("span.dim", one.enabled ? plural(one.hits, "hit") : "off");
    const line = html(
      "div.task",
      box,
      breakpointIcon(lookOf(one)),
      words(one, view),
      hits,
      ...(view.saved ? [] : tools),
    );
    return html("li", { class: one.enabled ? "" : "off" }, line);
  }
}

/** "run_tests before, if" and the condition below; what the kernel says in words is the tooltip. */
function words(one: WireBreakpoint, view: PanelView): HTMLElement {
  const extra = [
    one.kind === "node" ? one.when : "",
    one.hit === null ? "" : `hit ${one.hit}`,
    one.condition === "" ? "" : "if",
  ];
  const facts = extra.filter(Boolean).join(", ");
  return html(
    "div.grow",
    { title: one.text },
    html("b", placeOf(one, view)),
    facts === "" ? null : html("span.dim", ` ${facts}`),
    one.condition === "" ? null : html("div.mono.cut", one.condition),
    one.log === "" ? null : html("div.mono.cut", `log ${one.log}`),
  );
}

function placeOf(one: WireBreakpoint, { names, snapshot }: PanelView): string {
  switch (one.kind) {
    case "node":
      return one.node === null ? "any node" : names(one.node);
    case "edge": {
      const edge = snapshot.graph.edges.find((known) => known.id === one.edge);
      return edge === undefined ? (one.edge ?? "an edge") : `${names(edge.source)} → ${names(edge.target)}`;
    }
    case "predicate":
      return "when the state fits";
    case "exception":
      return "any exception";
    case "tool":
      return one.node === null ? "any tool call" : `tool ${one.node}`;
  }
}
