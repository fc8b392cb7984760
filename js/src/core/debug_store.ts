/**
 * The one holder of a session's state, shared by all views of a widget. States come whole, by trait and by message, so
 * there are no gaps: the newest wins, and one that is older than what is held is ignored.
 */

import type { Snapshot } from "../protocol/generated.ts";
import type { DebugState } from "../protocol/generated_debugging.ts";
import { NO_DEBUG } from "./debug_blank.ts";
import { atEnd } from "./ending.ts";

export type DebugListener = (state: DebugState, before: DebugState) => void;

export class DebugStore {
  state: DebugState = NO_DEBUG;
  /** The picture of the looked-at step; null when live, or when it hasn't come yet. */
  picture: Snapshot | null = null;
  private readonly _listeners = new Set<DebugListener>();

  subscribe(listener: DebugListener, signal: AbortSignal): void {
    this._listeners.add(listener);
    atEnd(signal, () => this._listeners.delete(listener));
  }

  /** A state with its picture, by message. One with the number of what is held may bring the picture that was missing. */
  receive(state: DebugState, picture: Snapshot | null): void {
    if (state.seq < this.state.seq) return;
    this._set(state, state.looking === null ? null : (picture ?? this._pictureOf(state)));
  }

  /** A state by trait. `picture` as far as the trait holds one. */
  offer(state: DebugState, picture: Snapshot | null): void {
    if (state.seq <= this.state.seq) return;
    this._set(state, state.looking === null ? null : (picture ?? this._pictureOf(state)));
  }

  /** The past is looked at, and its picture hasn't come: a page was loaded anew. */
  get lacksPicture(): boolean {
    return this.state.looking !== null && this.picture === null;
  }

  /** The picture that is held, if it is of the same point. */
  private _pictureOf(state: DebugState): Snapshot | null {
    const { looking, inside, branch } = this.state;
    const isSame = state.looking === looking && state.inside?.number === inside?.number && state.branch === branch;
    return isSame ? this.picture : null;
  }

  private _set(state: DebugState, picture: Snapshot | null): void {
    const before = this.state;
    this.state = state;
    this.picture = picture;
    for (const listener of [...this._listeners]) listener(state, before);
  }
}
