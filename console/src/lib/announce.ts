import { useSyncExternalStore } from 'react';

/** A dialog that closes meanwhile keeps everything behind it silent. */
const AFTER_MS = 200;

const listeners = new Set<() => void>();
let said = '';

/** Lets screen readers say what happened, where nothing that has the focus shows it. */
export function announce(words: string): void {
  setTimeout(() => {
    // The same words are read again only when they differ.
    said = said === words ? `${words}\u00a0` : words;
    for (const listener of listeners) listener();
  }, AFTER_MS);
}

/** What was announced last. */
export function useAnnouncement(): string {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => said,
  );
}
