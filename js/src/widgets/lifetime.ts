export type Cleanup = () => void;

/** Older hosts hand over no signal and call the returned function instead; both end the same things. */
export function lifetime(signal: AbortSignal | undefined): { signal: AbortSignal; end: Cleanup } {
  const own = new AbortController();
  signal?.addEventListener("abort", () => own.abort(), { once: true });
  return { signal: own.signal, end: () => own.abort() };
}
