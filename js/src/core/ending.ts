/** Does something once, when a signal ends the life of a view or of a part of it. */
export function atEnd(signal: AbortSignal, run: () => void): void {
  signal.addEventListener("abort", run, { once: true });
}
