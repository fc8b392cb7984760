/** Which values of the state are open, and what the kernel has told about their insides; asked again when they change. */

import { has } from "../core/record.ts";
import type { InspectKeyResult } from "../protocol/generated_debugging.ts";
import type { Desk } from "./desk.ts";

export type Path = readonly (string | number)[];
interface Opening {
  readonly stamp: string;
  readonly result: InspectKeyResult | null;
  readonly fault: string;
}

export class Openings {
  private readonly _open = new Map<string, boolean>();
  private readonly _known = new Map<string, Opening>();
  private readonly _asking = new Set<string>();

  constructor(
    private readonly _desk: Desk,
    private readonly _changed: () => void,
  ) {}

  /** Opened or closed by hand; what nobody touched is open if `otherwise`. */
  isOpen(id: string, otherwise = false): boolean {
    return this._open.get(id) ?? otherwise;
  }

  set(id: string, open: boolean): void {
    this._open.set(id, open);
    this._changed();
  }

  /** The inside of a value as of `stamp`; what was known before is shown until the answer comes. */
  inside(key: string, path: Path, stamp: string): { result: InspectKeyResult | null; fault: string } {
    const id = idOf(key, path);
    const known = this._known.get(id);
    if (known?.stamp !== stamp && !this._asking.has(id)) void this._ask(key, path, id, stamp);
    return known ?? { result: null, fault: "" };
  }

  private async _ask(key: string, path: Path, id: string, stamp: string): Promise<void> {
    this._asking.add(id);
    const reply = await this._desk.ask({ type: "inspect_key", key, path: [...path] });
    this._asking.delete(id);
    const result = reply?.ok === true && isInside(reply.result) ? reply.result : null;
    this._known.set(id, {
      stamp,
      result,
      fault: reply?.ok === false ? `${reply.error.what} — ${reply.error.fix}` : "",
    });
    this._changed();
  }
}

export function idOf(key: string, path: Path): string {
  return JSON.stringify([key, ...path]);
}

function isInside(value: unknown): value is InspectKeyResult {
  return has(value, "children");
}
