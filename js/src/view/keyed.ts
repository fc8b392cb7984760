/**
 * Lists that change a few times a second: a part is made anew only when its version differs, parts that stay aren't
 * moved, and a part that is made anew while it has the focus gets it back. So nobody loses their place to an update.
 */

export interface Part {
  readonly key: string;
  /** Equal versions look equal. */
  readonly version: string;
  readonly make: () => HTMLElement;
}

export class Keyed {
  private _parts = new Map<string, { readonly version: string; readonly element: HTMLElement }>();

  constructor(readonly parent: HTMLElement) {}

  update(wanted: readonly Part[]): void {
    const held = focusedKey(this.parent);
    const next = new Map<string, { readonly version: string; readonly element: HTMLElement }>();
    for (const { key, version, make } of wanted) {
      const known = this._parts.get(key);
      next.set(key, known?.version === version ? known : { version, element: make() });
    }
    for (const [key, part] of this._parts) if (next.get(key)?.element !== part.element) part.element.remove();
    this._parts = next;
    this._arrange();
    if (held !== null) refocus(this.parent, held);
  }

  element(key: string): HTMLElement | null {
    return this._parts.get(key)?.element ?? null;
  }

  private _arrange(): void {
    let at: ChildNode | null = this.parent.firstChild;
    for (const { element } of this._parts.values()) {
      if (element === at) at = at.nextSibling;
      else this.parent.insertBefore(element, at);
    }
  }
}

/** The `data-key` of what has the focus inside `parent`. */
function focusedKey(parent: HTMLElement): string | null {
  const active = document.activeElement;
  return active !== null && parent.contains(active) ? (active.getAttribute("data-key") ?? null) : null;
}

function refocus(parent: HTMLElement, key: string): void {
  if (parent.contains(document.activeElement)) return;
  for (const element of parent.querySelectorAll<HTMLElement>("[data-key]")) {
    if (element.getAttribute("data-key") === key) return element.focus({ preventScroll: true });
  }
}
