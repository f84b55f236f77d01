import { useSyncExternalStore } from 'react';
import { clock, dateTime, fromNow } from '../lib/format';

const SECOND_MS = 1_000;

const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** Words that change as time passes; shown again only when they do. */
export function useTicking(words: () => string): string {
  return useSyncExternalStore(onSecond, words);
}

/** One timer for all times of a page. */
function onSecond(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => listeners.forEach((each) => each()), SECOND_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** How far away a time is, also while the page stays open. Its title is the time itself. @param at Unix seconds */
export function When({ at }: { readonly at: number | null }) {
  const words = useTicking(() => fromNow(at));
  return <span title={dateTime(at)}>{words}</span>;
}

/** Counts down to a time. @param until Unix seconds */
export function Countdown({ until }: { readonly until: number }) {
  const words = useTicking(() => clock(until - Date.now() / SECOND_MS));
  return (
    <span role="timer" title={dateTime(until)} className="tabular-nums">
      {words}
    </span>
  );
}
