import { Injectable } from '@nestjs/common';
import type { BodyWatcher } from '../../upstream/stream-exchange.js';
import { StreamedAnswers } from '../inspection/answer-outcome.js';
import type { ScannedAnswer } from '../inspection/message-scan.js';
import { idOfAnswer, type ReportedOutcome } from '../inspection/reported-outcome.js';

/** Calls of one session that wait for their answers. Those beyond are not followed. */
const MAX_EXPECTED = 1_000;

/**
 * Brings the calls of the older transport together with their answers, which come on another request: the stream of the session.
 * Only where both are at this process.
 */
@Injectable()
export class SessionAnswers {
  private readonly streams = new Map<string, SessionStream>();

  /** For a stream that is about to open: its watcher. */
  openStream(callerKey: string): SessionStream {
    return new SessionStream(callerKey, this.streams);
  }

  /**
   * Call before the message is sent: the answer may come first. Undefined when the stream is not here, or has too many calls.
   * @param path the server's own address for messages of the session
   * @param waitMs the longest time that the answer may take
   * @param watcher sees what comes on the stream until the call is over
   */
  expect(
    callerKey: string,
    path: string,
    outcome: ReportedOutcome,
    waitMs: number,
    watcher?: BodyWatcher,
  ): ExpectedAnswer | undefined {
    return this.streams.get(keyOf(callerKey, path))?.expect(outcome, waitMs, watcher);
  }
}

/** Watches the stream of a session, and reads the answers to its calls while they pass. */
export class SessionStream implements BodyWatcher {
  private readonly answers = new StreamedAnswers((found) => this.note(found));
  private readonly expected = new Set<ExpectedAnswer>();
  private readonly watchers = new Set<BodyWatcher>();
  private key: string | undefined = undefined;

  constructor(
    private readonly callerKey: string,
    private readonly open: Map<string, SessionStream>,
  ) {}

  /** Call when the server has named its address for messages. */
  begin(path: string): void {
    this.key = keyOf(this.callerKey, path);
    this.open.set(this.key, this);
  }

  push(chunk: Buffer): void {
    for (const watcher of this.watchers) watcher.push(chunk);
    this.answers.push(chunk);
  }

  end(): void {
    if (this.key !== undefined && this.open.get(this.key) === this) this.open.delete(this.key);
    for (const answer of this.expected) answer.finish();
  }

  expect(outcome: ReportedOutcome, waitMs: number, watcher?: BodyWatcher): ExpectedAnswer | undefined {
    if (this.expected.size >= MAX_EXPECTED) return undefined;
    const answer = new ExpectedAnswer(outcome, waitMs, () => {
      this.expected.delete(answer);
      if (watcher === undefined) return;
      this.watchers.delete(watcher);
      watcher.end();
    });
    this.expected.add(answer);
    if (watcher !== undefined) this.watchers.add(watcher);
    return answer;
  }

  private note(found: readonly ScannedAnswer[]): void {
    if (this.expected.size === 0) return;
    for (const answer of found) {
      const id = idOfAnswer(answer);
      // Which call an error without an id is about, only the client may know.
      if (id !== null) for (const each of this.expected) each.note(id, answer);
    }
  }
}

/** One call whose answer comes on the stream. */
export class ExpectedAnswer {
  private readonly timer: NodeJS.Timeout;
  private isOver = false;
  private listener: (() => void) | undefined;

  constructor(
    readonly outcome: ReportedOutcome,
    waitMs: number,
    private readonly onOver: () => void,
  ) {
    this.timer = setTimeout(() => this.finish(), waitMs).unref();
  }

  /** Calls back once: when all requests of the call are answered, the stream is over, or the time is. */
  whenOver(listener: () => void): void {
    if (this.isOver) return listener();
    this.listener = listener;
  }

  note(id: Parameters<ReportedOutcome['note']>[0], answer: ScannedAnswer): void {
    this.outcome.note(id, answer);
    if (this.outcome.isComplete) this.finish();
  }

  /** Also for a call whose message was refused: no answer will come. */
  finish(): void {
    if (this.isOver) return;
    this.isOver = true;
    clearTimeout(this.timer);
    this.onOver();
    this.listener?.();
  }
}

/** No caller's key ends in a line break and a path. */
function keyOf(callerKey: string, path: string): string {
  return `${callerKey}\n${path}`;
}
