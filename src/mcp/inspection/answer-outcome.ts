import type { BodyWatcher } from '../../upstream/stream-exchange.js';
import { type UpstreamHead, firstHeader } from '../../upstream/upstream.types.js';
import { EventDataReader } from '../proxy/event-data-reader.js';
import { isJsonType } from '../proxy/readable-answer.js';
import { isEventStream, isPlain, mediaTypeOf } from '../proxy/response-head.js';
import { MessageScan, type ScannedAnswer } from './message-scan.js';
import { idOfAnswer, type ReportedOutcome } from './reported-outcome.js';

/** Finds the answers in an event stream while it passes. */
export class StreamedAnswers {
  readonly #scan = new MessageScan();
  readonly #events: EventDataReader;
  #isReadable = true;

  /** @param onAnswers called at the end of an event that has answers */
  constructor(onAnswers: (answers: readonly ScannedAnswer[]) => void) {
    this.#events = new EventDataReader(
      (bytes, start, end) => this.#scan.push(bytes, start, end),
      (type) => {
        this.#isReadable &&= !this.#scan.isTooLong;
        const answers = this.#scan.take();
        if (answers.length > 0 && (type === '' || type === 'message')) onAnswers(answers);
      },
    );
  }

  /** Whether each event could be read to its end. */
  get isReadable(): boolean {
    return this.#isReadable && !this.#scan.isTooLong;
  }

  /** An event that has not ended is dropped by its readers. */
  push(chunk: Buffer): void {
    this.#events.push(chunk);
  }
}

/**
 * Reads the outcome of a call from the bytes of its answer while they pass. An answer that is too long or cannot be read counts
 * as one without a failure. Undefined for an answer that is neither JSON nor an event stream.
 */
export function outcomeReader(outcome: ReportedOutcome, head: UpstreamHead): BodyWatcher | undefined {
  if (!isPlain(head)) return undefined;
  const note = (answers: readonly ScannedAnswer[]): void => {
    for (const answer of answers) outcome.note(idOfAnswer(answer), answer);
  };
  if (isEventStream(head)) {
    const answers = new StreamedAnswers(note);
    const end = (): void => {
      if (answers.isReadable) outcome.noteEnd();
    };
    return { push: (chunk) => answers.push(chunk), end };
  }
  if (!isJsonType(mediaTypeOf(firstHeader(head.headers, 'content-type')))) return undefined;
  const scan = new MessageScan();
  return { push: (chunk) => scan.push(chunk, 0, chunk.length), end: () => note(scan.take()) };
}
