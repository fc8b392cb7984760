/** What nodes ask the person in front of the panel: one question at a time, above the tabs. It never takes the focus. */

import type { WireQuestion } from "../protocol/generated_debugging.ts";
import { button } from "../view/controls.ts";
import { html, setPresent, setText } from "../view/dom.ts";
import { stateIcon } from "../view/glyph.ts";
import { AnswerForm } from "./answer_form.ts";
import type { Desk, PanelView } from "./desk.ts";

interface Card {
  readonly element: HTMLElement;
  readonly form: AnswerForm;
}

export class QuestionCard {
  readonly element = html("div.asking", { hidden: true });
  /** Of each open question, so that what was typed stays while another one is looked at. */
  private readonly _cards = new Map<string, Card>();
  private readonly _count = html("span.dim");
  private readonly _next: HTMLElement;
  private readonly _refused = html("p.dim");
  private _view: PanelView | null = null;
  private _shown = "";
  private _isSending = false;

  /** @param _leave Called when what had the focus here is gone. The next question doesn't get it: keys may be meant for
   * the view by now. */
  constructor(
    private readonly _desk: Desk,
    private readonly _leave: () => void,
    private readonly _signal: AbortSignal,
  ) {
    this._next = button("Next", () => this._goOn(), { name: "The next question" });
  }

  update(view: PanelView): void {
    this._view = view;
    const { questions, looking } = view.state;
    for (const id of this._cards.keys()) if (questions.every((one) => one.id !== id)) this._cards.delete(id);
    const isLive = !view.saved && looking === null;
    const question = isLive ? (questions.find((one) => one.id === this._shown) ?? questions[0]) : undefined;
    this.element.hidden = question === undefined;
    if (question === undefined) this._show("", null);
    else this._draw(question, view);
  }

  /** Leads to the form, or says why there is none. */
  focus(): void {
    const { questions = [], looking = null } = this._view?.state ?? {};
    const card = this._cards.get(this._shown);
    if (card !== undefined) return card.form.focus();
    const isPast = looking !== null && questions.length > 0;
    this._desk.say(isPast ? "Answer: this is the past, go back to live first." : "Answer: nothing is asked.");
  }

  private _draw(question: WireQuestion, view: PanelView): void {
    const { questions, allowed } = view.state;
    const card = this._cards.get(question.id) ?? this._card(question, view);
    this._cards.set(question.id, card);
    const header = card.element.firstElementChild as HTMLElement;
    setText(this._count, `${questions.indexOf(question) + 1} of ${questions.length}`);
    for (const part of [this._count, this._next]) setPresent(header, part, questions.length > 1);
    setText(this._refused, allowed.answer);
    setPresent(card.element, this._refused, allowed.answer !== "");
    this._show(question.id, card);
  }

  private _show(id: string, card: Card | null): void {
    if (id === this._shown) return;
    this._shown = id;
    const hadFocus = this.element.contains(document.activeElement);
    this.element.replaceChildren(...(card === null ? [] : [card.element]));
    if (hadFocus) this._leave();
  }

  private _card(question: WireQuestion, view: PanelView): Card {
    const form = new AnswerForm(question, (value) => void this._send(form, question.id, value), this._signal);
    const title = `${view.names(question.node)} asks`;
    const sign = html("span.waiting.ink", stateIcon("waiting"));
    const header = html("header", sign, html("h3", title), html("kbd", { title: "A leads here" }, "A"));
    const text = html("p.question", question.text);
    return { form, element: html("section.card.ask", { "aria-label": title }, header, text, form.element) };
  }

  private _goOn(): void {
    const { questions = [] } = this._view?.state ?? {};
    const at = questions.findIndex((one) => one.id === this._shown);
    const next = questions[(at + 1) % questions.length];
    if (next === undefined || this._view === null) return;
    this._draw(next, this._view);
    this.focus();
  }

  private async _send(form: AnswerForm, question: string, value: unknown): Promise<void> {
    const refused = this._view?.state.allowed.answer ?? "";
    if (refused !== "") return form.refuse(refused);
    if (this._isSending) return;
    this._isSending = true;
    const reply = await this._desk.ask({ type: "answer", question, value });
    this._isSending = false;
    if (reply?.ok === false) form.refuse(reply.error.what);
  }
}
