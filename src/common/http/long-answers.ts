import type { ServerResponse } from 'node:http';

const longAnswers = new WeakSet<ServerResponse>();

/** Notes an answer that may take minutes, as those of models do: a shutdown waits longer for it. */
export function noteLongAnswer(answer: ServerResponse): void {
  longAnswers.add(answer);
}

export function isLongAnswer(answer: ServerResponse): boolean {
  return longAnswers.has(answer);
}
