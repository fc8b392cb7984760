import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { asking, QUESTIONS } from "../dev/debugger_fixtures.ts";
import { FakeDebugModel } from "../dev/fake_debug_model.ts";
import type { Model } from "../src/bridge/channel.ts";
import { faultsIn, formOf } from "../src/core/form.ts";
import type { WireQuestion } from "../src/protocol/generated_debugging.ts";
import widget from "../src/widgets/debugger.ts";

let life: AbortController;

async function settle(): Promise<void> {
  for (let i = 0; i < 4; i++) await vi.advanceTimersByTimeAsync(20);
}

async function open(...questions: readonly WireQuestion[]): Promise<{ el: HTMLElement; model: FakeDebugModel }> {
  const model = new FakeDebugModel(asking(questions));
  const definition = widget();
  const props = { model: model as Model, signal: life.signal } as unknown as Parameters<
    typeof definition.initialize
  >[0];
  definition.initialize(props);
  const el = document.body.appendChild(document.createElement("div"));
  definition.render({ ...props, el } as unknown as Parameters<typeof definition.render>[0]);
  await settle();
  return { el, model };
}

const ask = (schema: Record<string, unknown>, more: Partial<WireQuestion> = {}): WireQuestion => ({
  id: "q",
  node: "human_review",
  text: "Well?",
  schema,
  ...more,
});
const one = (el: HTMLElement, selector: string) => el.querySelector(selector) as HTMLElement;
const all = (el: HTMLElement, selector: string) => [...el.querySelectorAll<HTMLElement>(selector)];
const words = (el: HTMLElement, selector: string) => all(el, selector).map((each) => each.textContent);
const click = (target: Element) => target.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }));
const press = (target: Element, key: string, more: KeyboardEventInit = {}) =>
  target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }));
const view = (el: HTMLElement) => one(el, ".debugger");
const card = (el: HTMLElement) => one(el, ".asking");
const button = (el: HTMLElement, word: string) =>
  all(el, ".ask button").find((each) => each.textContent?.replace("⏎", "") === word) as HTMLElement;
const answers = (model: FakeDebugModel) =>
  model.asked.flatMap((command) => (command.type === "answer" ? [command.value] : []));
const type = (el: HTMLElement, label: string, text: string) => {
  const field = one(el, `.ask [aria-label="${label}"]`) as HTMLInputElement;
  field.value = text;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  return field;
};

beforeEach(() => {
  life = new AbortController();
  vi.useFakeTimers();
  vi.stubGlobal("requestAnimationFrame", (callback: FrameRequestCallback) => setTimeout(() => callback(0), 16));
  vi.stubGlobal("cancelAnimationFrame", clearTimeout);
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(1100);
});

afterEach(() => {
  life.abort();
  document.body.replaceChildren();
  vi.useRealTimers();
});

describe("the card of a question", () => {
  it("comes with the question, above the tabs, and takes no focus", async () => {
    const { el, model } = await open();
    expect(card(el).hidden).toBe(true);
    const before = document.activeElement;
    model.show({ questions: [ask({ type: "boolean" })] });
    await settle();
    expect(card(el).hidden).toBe(false);
    expect(card(el).nextElementSibling?.getAttribute("role")).toBe("tablist");
    expect(words(el, ".ask h3, .ask .question")).toEqual(["human_review asks", "Well?"]);
    expect(document.activeElement).toBe(before);
    expect(one(el, ".tools .chip").textContent).toBe("Waits for you");
    expect(one(el, ".job.live.waiting").textContent).toBe("human_review");
  });

  it("answers yes or no by a button, and goes when the question is closed", async () => {
    const { el, model } = await open(ask({ type: "boolean" }));
    expect(words(el, ".ask .choices button")).toEqual(["Yes", "No"]);
    click(button(el, "No"));
    await settle();
    expect(model.asked.at(-1)).toMatchObject({ type: "answer", question: "q", value: false });
    model.show({ questions: [] });
    await settle();
    expect(card(el).hidden).toBe(true);
    expect(card(el).textContent).toBe("");
  });

  it("has a button for each of a few choices, whatever they are, and a list for more", async () => {
    const { el, model } = await open(ask({ enum: ["red", 2, null] }, { default: 2 }));
    expect(words(el, ".ask .choices button")).toEqual(["red", "2", "none"]);
    expect(words(el, ".ask .choices .primary")).toEqual(["2"]);
    click(button(el, "2"));
    click(button(el, "none"));
    await settle();
    expect(answers(model)).toEqual([2]); // one answer at a time
    model.show({ questions: [ask({ enum: [1, 2, 3, 4, 5] }, { id: "more", default: 4 })] });
    await settle();
    expect((one(el, ".ask select") as HTMLSelectElement).value).toBe("4");
    click(button(el, "Answer"));
    await settle();
    expect(answers(model)).toEqual([2, 4]);
  });

  it("offers nothing as an answer where that is one", async () => {
    const schema = { anyOf: [{ type: "boolean" }, { type: "null" }] };
    const { el, model } = await open(ask(schema));
    click(button(el, "None"));
    await settle();
    expect(answers(model)).toEqual([null]);
  });

  it("sends a text on Enter, breaks its line on Shift and Enter, and sends an empty one by the button alone", async () => {
    const { el, model } = await open(ask({ type: "string" }));
    const field = one(el, ".ask textarea");
    press(field, "Enter");
    await settle();
    expect(answers(model)).toEqual([]);
    expect(one(el, ".ask .entry .verdict").textContent).toContain("nothing is written");
    click(button(el, "Answer"));
    await settle();
    press(type(el, "Well?", "Dear customer"), "Enter", { shiftKey: true });
    press(field, "Enter");
    await settle();
    expect(answers(model)).toEqual(["", "Dear customer"]);
  });

  it("has the fields of a model, with what is offered in them", async () => {
    const { el, model } = await open(...QUESTIONS.slice(0, 1));
    expect((one(el, '.ask [aria-label="amount"]') as HTMLInputElement).value).toBe("40");
    type(el, "amount", "12.5");
    click(button(el, "Answer"));
    expect(one(el, '.ask [aria-label="amount"]')).toBe(document.activeElement);
    expect(one(el, ".ask .verdict").textContent).toContain("not int");
    press(type(el, "amount", "12"), "Enter");
    await settle();
    expect(answers(model)).toEqual([{ amount: 12, reason: "VAT was added twice", speed: "tonight", notify: true }]);
  });

  it("says beside the field what an answer was refused for", async () => {
    const { el, model } = await open(...QUESTIONS.slice(0, 1));
    model.refuse("The answer {} doesn't fit: amount: too much; Value error, not today", "answer again");
    click(button(el, "Answer"));
    await settle();
    const amount = one(el, '.ask [aria-label="amount"]');
    expect(amount.parentElement?.querySelector(".verdict")?.textContent).toBe("too much");
    expect(amount.getAttribute("aria-invalid")).toBe("true");
    expect(document.activeElement).toBe(amount);
    expect(one(el, ".ask form > .verdict").textContent).toBe("Value error, not today");
    type(el, "amount", "1");
    expect(amount.getAttribute("aria-invalid")).toBe("false");
  });

  it("says under the buttons what a choice was refused for", async () => {
    const { el, model } = await open(ask({ type: "boolean" }));
    model.refuse("The question 'Well?' is closed", "nothing to do");
    click(button(el, "Yes"));
    await settle();
    expect(one(el, '.ask [role="alert"]').textContent).toBe("The question 'Well?' is closed");
  });

  it("shows several one at a time, and keeps what was typed in each", async () => {
    const { el, model } = await open(...QUESTIONS);
    expect(one(el, ".ask header .dim").textContent).toBe("1 of 2");
    type(el, "amount", "7");
    click(button(el, "Next"));
    expect(words(el, ".ask header .dim, .ask .question")).toEqual(["2 of 2", "Write to the customer too?"]);
    expect(document.activeElement).toBe(button(el, "Yes")); // on its default
    click(button(el, "Next"));
    expect((one(el, '.ask [aria-label="amount"]') as HTMLInputElement).value).toBe("7");
    one(el, '.ask [aria-label="amount"]').focus();
    model.show({ questions: QUESTIONS.slice(1) });
    await settle();
    expect(words(el, ".ask header .dim")).toEqual([]);
    expect(document.activeElement).toBe(view(el)); // what is typed now isn't meant for the next question
  });

  it("keeps the caret where it is when another question comes", async () => {
    const { el, model } = await open(...QUESTIONS.slice(0, 1));
    const field = one(el, '.ask [aria-label="amount"]');
    field.focus();
    model.show({ questions: QUESTIONS });
    await settle();
    expect(document.activeElement).toBe(field);
    expect(one(el, ".ask header .dim").textContent).toBe("1 of 2");
  });

  it("gives the focus back to the view once all is answered", async () => {
    const { el, model } = await open(ask({ type: "boolean" }));
    button(el, "Yes").focus();
    model.show({ questions: [] });
    await settle();
    expect(document.activeElement).toBe(view(el));
  });

  it("is reached by A, which is on the sheet and in the card", async () => {
    const { el, model } = await open(ask({ type: "boolean" }, { default: false }));
    press(view(el), "a");
    expect(document.activeElement).toBe(button(el, "No"));
    press(document.activeElement as Element, "ArrowLeft");
    expect(document.activeElement).toBe(button(el, "Yes"));
    expect(one(el, ".ask header kbd").textContent).toBe("A");
    model.show({ questions: [] });
    await settle();
    press(view(el), "a");
    await vi.advanceTimersByTimeAsync(500);
    expect(one(el, '[aria-live="polite"]').textContent).toContain("Answer: nothing is asked.");
  });

  it("isn't shown in the past, where the bar says that something is asked", async () => {
    const { el } = await open(ask({ type: "boolean" }));
    press(view(el), "[");
    await settle();
    expect(card(el).hidden).toBe(true);
    press(view(el), "a");
    await vi.advanceTimersByTimeAsync(500);
    expect(one(el, '[aria-live="polite"]').textContent).toContain("go back to live first");
  });

  it("isn't shown without a kernel", async () => {
    const { el, model } = await open(ask({ type: "boolean" }));
    model.emit("comm:close", null);
    await settle();
    expect(card(el).hidden).toBe(true);
  });

  it("says why it can't be answered now, and asks nothing of the kernel then", async () => {
    const { el, model } = await open(ask({ type: "boolean" }));
    model.show({ allowed: { ...model.debug.allowed, answer: "A cell runs" } });
    await settle();
    expect(one(el, ".ask > .dim").textContent).toBe("A cell runs");
    click(button(el, "Yes"));
    await settle();
    expect(answers(model)).toEqual([]);
    expect(one(el, '.ask [role="alert"]').textContent).toBe("A cell runs");
  });

  it("draws hostile words as text", async () => {
    const nasty = "<img src=x onerror=alert(1)>";
    const { el } = await open(ask({ enum: [nasty] }, { text: nasty }));
    expect(el.querySelector(".ask img")).toBeNull();
    expect(words(el, ".ask .question, .ask .choices button")).toEqual([nasty, nasty]);
  });
});

it("is at the end of the timeline too when the picture hears of it after the panel", async () => {
  const { el, model } = await open(ask({ type: "boolean" }));
  const question = (text: string) =>
    ({ type: "question", at_s: 40, node: "human_review", question: text, text: "" }) as const;
  const tell = (seq: number, event: ReturnType<typeof question>) =>
    model.publish({ type: "events", first_seq: seq, last_seq: seq, events: [event] });
  const { seq } = model.snapshot;
  tell(seq + 1, question(""));
  await settle();
  expect(one(el, ".job.live").classList).toContain("running");
  tell(seq + 2, question("Well?"));
  await settle();
  expect(one(el, ".job.live").classList).toContain("waiting");
  expect(el.querySelector(".callout")).toBeNull(); // it has its card
});

describe("a form for one value", () => {
  const kinds = (schema: Record<string, unknown>) => formOf(schema).map(({ key, kind }) => [key, kind]);

  it("follows references, takes a constant for a choice, and anything else as JSON", () => {
    const colour = { $ref: "#/$defs/Colour", $defs: { Colour: { enum: ["red", "blue"], type: "string" } } };
    expect(kinds(colour)).toEqual([["", "choice"]]);
    expect(kinds({ const: "yes" })).toEqual([["", "choice"]]);
    expect(kinds({ type: "array", items: { type: "string" } })).toEqual([["", "json"]]);
    expect(kinds({})).toEqual([["", "json"]]);
    const model = { $ref: "#/$defs/M", $defs: { M: { type: "object", properties: { a: { type: "integer" } } } } };
    expect(kinds(model)).toEqual([["a", "number"]]);
  });

  it("finds the fields that a refusal names, and only those", () => {
    const fields = formOf({ type: "object", properties: { "a.b": {}, a: {} } });
    expect(faultsIn("The answer {} doesn't fit: a.b: no; a.0.x: bad; a: worse; ab: else", fields)).toEqual({
      "a.b": "no",
      a: "0.x: bad; worse",
      "": "ab: else",
    });
    expect(faultsIn("The kernel is gone", fields)).toEqual({ "": "The kernel is gone" });
  });
});
