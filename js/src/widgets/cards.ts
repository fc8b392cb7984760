/** Chooses the card beside the graph: an opened node, else what broke, else the final state; and ties it to its node. */

import type { Session } from "../bridge/session.ts";
import { type GraphIndex, nameOf } from "../core/index_graph.ts";
import { DetailsCard } from "../panels/details.ts";
import { errorCard } from "../panels/error_card.ts";
import { resultCard } from "../panels/result.ts";
import { CARD_WIDTH, placeOf, Side } from "../panels/side.ts";
import type { RunState, Snapshot } from "../protocol/generated.ts";
import { findingsOf } from "../view/findings.ts";
import { Leader, leaderHeight } from "../view/leader.ts";
import type { Scene } from "../view/scene.ts";
import type { Stage } from "../view/stage.ts";

export class Cards {
  readonly side = new Side();
  private _details: DetailsCard | null = null;
  private _ended: { key: string; kind: "error" | "result"; card: HTMLElement } | null = null;
  private _dismissed: string | null = null;
  private readonly _leaders = { bad: new Leader("failed"), open: new Leader("opened") };

  constructor(
    private readonly _session: Session,
    private readonly _stage: Stage,
    private readonly _changed: () => void,
    private readonly _signal: AbortSignal,
  ) {
    _stage.underlay.append(this._leaders.bad.element, this._leaders.open.element);
  }

  /** Opens a node's card, which asks the kernel for what the snapshot doesn't hold. */
  open(id: string, index: GraphIndex): void {
    const node = index.nodes.get(id);
    if (node === undefined) return;
    if (node.kind === "end" && this._ended !== null) return this._reopenEnded();
    const ask = () => this._session.channel.request({ type: "inspect_node", node: id });
    this._details = new DetailsCard(node, () => this.close(), this._signal, findingsOf(index.graph, id), ask);
    this._changed();
  }

  /** The end of a finished run shows what came out of it. */
  private _reopenEnded(): void {
    this._details = null;
    this._dismissed = null;
    this._changed();
  }

  get openNode(): string | null {
    return this._details?.node.id ?? null;
  }

  /** Whether there is a card that may go: what broke stays in sight until the next run. */
  get canClose(): boolean {
    if (this._details !== null) return true;
    return this._ended?.kind === "result" && this._ended.key !== this._dismissed;
  }

  /** Closes what is on top. The node that was open, so that the focus can go back to it; null if there was none. */
  close(): string | null {
    const node = this.openNode;
    if (this._details !== null) this._details = null;
    else if (this._ended?.kind === "result") this._dismissed = this._ended.key;
    this._changed();
    return node;
  }

  /** A card about a graph that is gone goes too. */
  forget(): void {
    this._details = null;
  }

  /** @param width The width of `root`. */
  update(snapshot: Snapshot, scene: Scene, root: HTMLElement, width: number): void {
    this._refreshEnded(snapshot.run, scene.index);
    this._details?.update(snapshot);
    const card = this._details?.element ?? (this._ended?.key === this._dismissed ? null : (this._ended?.card ?? null));
    const isNew = this.side.show(card);
    const beside = placeOf(width, this._stage.hasRoomBeside(CARD_WIDTH, width)) === "beside";
    root.classList.toggle("with-side", this.side.isOpen && beside);
    this.side.element.hidden = !this.side.isOpen;
    if (isNew && card !== null) this._level(snapshot, scene);
    this.tie(snapshot, scene, beside);
  }

  /** Draws the line from the card's node to the card; again after every move. */
  tie(snapshot: Snapshot, scene: Scene, beside: boolean): void {
    const failed = this._details === null && this.side.isOpen ? snapshot.run.failed_node : null;
    this._draw(this._leaders.bad, beside ? failed : null, scene);
    this._draw(this._leaders.open, beside ? this.openNode : null, scene);
  }

  private _draw(leader: Leader, id: string | null, scene: Scene): void {
    const box = id === null ? null : scene.boxOf(id);
    leader.show(box !== null);
    if (id === null || box === null) return;
    const at = this._stage.screenBox(box);
    const edge = this._stage.view.w;
    const y = leaderHeight(at, scene.otherBoxes(id), edge);
    const { top, height } = this._cardPlace();
    leader.draw(at, y, { x: edge, y: Math.min(Math.max(y, top + 16), top + height - 16) });
  }

  /** Beside the graph a card stands level with its node, as far as it fits; without a node in the middle. */
  private _level(snapshot: Snapshot, scene: Scene): void {
    const id = this.openNode ?? snapshot.run.failed_node;
    const box = id === null ? null : scene.boxOf(id);
    const middle = box === null ? null : this._stage.screenBox(box).y + box.h / 2;
    this.side.level(middle);
  }

  /** Where the card stands, on the stage's own scale. */
  private _cardPlace(): { top: number; height: number } {
    const card = this.side.element.firstElementChild?.getBoundingClientRect();
    const stageTop = this._stage.element.getBoundingClientRect().top;
    return { top: (card?.top ?? 0) - stageTop, height: card?.height ?? 0 };
  }

  private _refreshEnded(run: RunState, index: GraphIndex): void {
    const key = `${run.run_id} ${run.status} ${run.elapsed_s}`;
    if (run.status !== "failed" && run.status !== "finished") {
      this._ended = null;
      this._dismissed = null;
    } else if (this._ended?.key !== key)
      this._ended = { key, kind: run.error === null ? "result" : "error", card: this._endedCard(run, index) };
  }

  private _endedCard(run: RunState, index: GraphIndex): HTMLElement {
    const { error, failed_node: node } = run;
    if (error === null) return resultCard(run, () => this.close(), this._signal);
    const title = node === null ? error.kind : `${error.kind} in ${nameOf(index, node)}`;
    return errorCard(error, title, this._signal);
  }
}
