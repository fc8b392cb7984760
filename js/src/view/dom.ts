/** Making and changing elements. Text goes in as text only; nothing in the views parses markup. */

const SVG = "http://www.w3.org/2000/svg";

type Attributes = Readonly<Record<string, string | number | boolean | null>>;
/** Attributes, or something inside; null is left out. */
type Part = Attributes | Node | string | null;
/** A tag, or a tag with its classes: "span.key.cut". */
type Spec<Tags> = (keyof Tags & string) | `${keyof Tags & string}.${string}`;
type TagOf<S> = S extends `${infer Tag}.${string}` ? Tag : S;
type Made<Tags, S> = TagOf<S> extends keyof Tags ? Tags[TagOf<S>] : never;

export function svg<S extends Spec<SVGElementTagNameMap>>(spec: S, ...parts: Part[]): Made<SVGElementTagNameMap, S> {
  return filled((tag) => document.createElementNS(SVG, tag), spec, parts) as Made<SVGElementTagNameMap, S>;
}

export function html<S extends Spec<HTMLElementTagNameMap>>(spec: S, ...parts: Part[]): Made<HTMLElementTagNameMap, S> {
  return filled((tag) => document.createElement(tag), spec, parts) as Made<HTMLElementTagNameMap, S>;
}

function filled(make: (tag: string) => Element, spec: string, parts: readonly Part[]): unknown {
  const [tag = "", ...names] = spec.split(".");
  const element = make(tag);
  if (names.length > 0) element.setAttribute("class", names.join(" "));
  for (const part of parts) {
    if (typeof part === "string" || part instanceof Node) element.append(part);
    else for (const [name, value] of Object.entries(part ?? {})) setAttribute(element, name, value);
  }
  return element;
}

/** Listens until `signal` ends; without one, for as long as the target lives. */
export function on<K extends keyof HTMLElementEventMap>(
  target: EventTarget,
  type: K,
  run: (event: HTMLElementEventMap[K]) => unknown,
  signal?: AbortSignal,
  capture = false,
): void {
  target.addEventListener(type, run as (event: Event) => unknown, { capture, ...(signal && { signal }) });
}

/** Writes only what differs, so that an update leaves untouched nodes alone. False and null take the attribute away. */
export function setAttribute(element: Element, name: string, value: string | number | boolean | null): void {
  if (value === null || value === false) {
    if (element.hasAttribute(name)) element.removeAttribute(name);
    return;
  }
  const text = value === true ? "" : String(value);
  if (element.getAttribute(name) !== text) element.setAttribute(name, text);
}

export function setText(node: Node, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}

/** Puts the element in or takes it out; its place is at the end of the parent. */
export function setPresent(parent: Element, element: Element, present: boolean): void {
  if (present && element.parentNode !== parent) parent.append(element);
  else if (!present && element.parentNode !== null) element.remove();
}

export function classes(...names: readonly (string | false | null | undefined)[]): string {
  return names.filter(Boolean).join(" ");
}
