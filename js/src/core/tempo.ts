/** Whether nodes start faster than an eye can follow. Then nothing moves: only states, numbers and words change. */

const OVER_MS = 500;
const HASTY = 40; // starts a second; a comet takes 700 ms, and at most twelve fly at a time
const CALM = 20;

export class Tempo {
  isHasty = false;
  private _from: { readonly turns: number; readonly atMs: number } | null = null;

  /** Takes in how many nodes the run has started so far; looks at the rate twice a second. */
  note(turns: number, nowMs: number): boolean {
    if (this._from === null || turns < this._from.turns) this._from = { turns, atMs: nowMs };
    const { turns: before, atMs } = this._from;
    const rate = ((turns - before) / OVER_MS) * 1000;
    if (rate >= HASTY) this.isHasty = true;
    if (nowMs - atMs < OVER_MS) return this.isHasty;
    this.isHasty = (turns - before) / ((nowMs - atMs) / 1000) >= (this.isHasty ? CALM : HASTY);
    this._from = { turns, atMs: nowMs };
    return this.isHasty;
  }
}
