import { describe, expect, it, vi } from "vitest";
import { Store } from "../src/core/store.ts";
import type { EventsMessage, WireEvent } from "../src/protocol/generated.ts";
import { loadStream } from "./streams.ts";

const START = { ...loadStream("support_idle").start, seq: 10 };
const QUEUED: WireEvent = { type: "node_queued", at_s: 1, node: "plan" };

function batch(first_seq: number, last_seq: number): EventsMessage {
  return { type: "events", first_seq, last_seq, events: [QUEUED] };
}

function storeWith(now = () => 0) {
  const askResync = vi.fn();
  const store = new Store(START, askResync, now);
  const heard = vi.fn();
  const life = new AbortController();
  store.subscribe(heard, life.signal);
  return { store, askResync, heard, life };
}

describe("store", () => {
  it("tells listeners the new snapshot and what led to it", () => {
    const { store, heard } = storeWith();
    store.receive(batch(11, 11));
    expect(heard).toHaveBeenCalledExactlyOnceWith(store.snapshot, [QUEUED]);
    expect(store.snapshot.nodes.plan?.status).toBe("queued");
  });

  it("says nothing about an old batch", () => {
    const { store, heard, askResync } = storeWith();
    store.receive(batch(9, 10));
    expect(heard).not.toHaveBeenCalled();
    expect(askResync).not.toHaveBeenCalled();
  });

  it("asks once for the whole after a gap, however many batches follow", () => {
    const { store, askResync } = storeWith();
    store.receive(batch(12, 12));
    store.receive(batch(13, 13));
    expect(askResync).toHaveBeenCalledOnce();
    expect(store.snapshot).toBe(START);
  });

  it("goes on from the whole that answers the gap", () => {
    const { store } = storeWith();
    store.receive(batch(12, 12));
    store.resynced({ ...START, seq: 13 });
    store.receive(batch(13, 13));
    store.receive(batch(14, 14));
    expect(store.snapshot.seq).toBe(14);
  });

  it("asks again if no answer came and the gap is still there", () => {
    const { store, askResync } = storeWith();
    store.receive(batch(12, 12));
    store.resynced(null);
    store.receive(batch(13, 13));
    expect(askResync).toHaveBeenCalledTimes(2);
  });

  it("ignores a whole that is older than what it holds", () => {
    const { store } = storeWith();
    store.receive(batch(11, 12));
    store.offer({ ...START, seq: 11 });
    expect(store.snapshot.seq).toBe(12);
  });

  it("takes any whole when the graph was replaced", () => {
    const { store } = storeWith();
    store.replace({ ...START, seq: 0 });
    expect(store.snapshot.seq).toBe(0);
  });

  it("forgets a listener whose view has gone", () => {
    const { store, heard, life } = storeWith();
    life.abort();
    store.receive(batch(11, 11));
    expect(heard).not.toHaveBeenCalled();
  });

  it("counts the clock on only while the run runs", () => {
    let nowMs = 1000;
    const { store } = storeWith(() => nowMs);
    store.replace({ ...START, run: { ...START.run, status: "running", elapsed_s: 2 } });
    nowMs = 2500;
    expect(store.elapsedS()).toBeCloseTo(3.5);
    store.replace({ ...START, run: { ...START.run, status: "finished", elapsed_s: 4 } });
    nowMs = 9000;
    expect(store.elapsedS()).toBe(4);
  });
});
