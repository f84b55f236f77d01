import { describe, expect, it } from '@jest/globals';
import { inspectBody } from '../inspection/inspect-body.js';
import { ReportedOutcome } from '../inspection/reported-outcome.js';
import { type ExpectedAnswer, SessionAnswers, type SessionStream } from './session-answers.js';

const PATH = '/message?sessionId=1';
const WAIT_MS = 60_000;
const TOOL_ERROR = { result: { isError: true } };

function outcomeOf(...ids: readonly number[]): ReportedOutcome {
  const messages = ids.map((id) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'search' } }));
  const outcome = ReportedOutcome.of(inspectBody(Buffer.from(JSON.stringify(messages))));
  if (outcome === undefined) throw new Error('no request');
  return outcome;
}

function openSession(answers: SessionAnswers, caller = 'ann', path = PATH): SessionStream {
  const stream = answers.openStream(caller);
  stream.begin(path);
  return stream;
}

function expectIn(answers: SessionAnswers, ids: readonly number[], waitMs = WAIT_MS): ExpectedAnswer {
  const expected = answers.expect('ann', PATH, outcomeOf(...ids), waitMs);
  if (expected === undefined) throw new Error('the stream is not open');
  return expected;
}

function say(stream: SessionStream, message: object, pieces = Infinity): void {
  const bytes = Buffer.from(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);
  for (let at = 0; at < bytes.length; at += pieces) stream.push(bytes.subarray(at, at + pieces));
}

/** How often the call was reported as over. */
function overs(expected: ExpectedAnswer): () => number {
  let count = 0;
  expected.whenOver(() => (count += 1));
  return () => count;
}

describe('SessionAnswers', () => {
  it('reads the answer to a call on the stream of its session, in pieces of any size', () => {
    for (const pieces of [1, 7, Infinity]) {
      const answers = new SessionAnswers();
      const stream = openSession(answers);
      const [one, two] = [expectIn(answers, [1]), expectIn(answers, [2])];
      const [isOneOver, isTwoOver] = [overs(one), overs(two)];
      say(stream, { method: 'notifications/progress', params: { id: 1 } }, pieces);
      say(stream, { id: null, error: { code: -32_700 } }, pieces);
      expect([isOneOver(), isTwoOver()]).toEqual([0, 0]);
      say(stream, { id: 2, error: { code: -32_602 } }, pieces);
      expect([isOneOver(), isTwoOver()]).toEqual([0, 1]);
      say(stream, { id: 1, ...TOOL_ERROR }, pieces);
      say(stream, { id: 1, ...TOOL_ERROR }, pieces);
      expect([isOneOver(), isTwoOver()]).toEqual([1, 1]);
      expect([one.outcome.failure, two.outcome.failure]).toEqual([
        { kind: 'tool_error', code: undefined },
        { kind: 'rpc_error', code: -32_602 },
      ]);
    }
  });

  it('waits for all answers of a batch', () => {
    const answers = new SessionAnswers();
    const stream = openSession(answers);
    const both = expectIn(answers, [1, 2]);
    const isOver = overs(both);
    say(stream, { id: 1, result: {} });
    expect(isOver()).toBe(0);
    say(stream, { id: 2, ...TOOL_ERROR });
    expect([isOver(), both.outcome.failureOf(1), both.outcome.failureOf(2)?.kind]).toEqual([
      1,
      undefined,
      'tool_error',
    ]);
  });

  it('reports a call whose answer came before it was asked for', () => {
    const answers = new SessionAnswers();
    const stream = openSession(answers);
    const call = expectIn(answers, [1]);
    say(stream, { id: 1, ...TOOL_ERROR });
    expect(overs(call)()).toBe(1);
  });

  it('ends with the stream, and after the time for the answer', async () => {
    const answers = new SessionAnswers();
    const stream = openSession(answers);
    const [slow, cut] = [expectIn(answers, [1], 10), expectIn(answers, [2])];
    const [isSlowOver, isCutOver] = [overs(slow), overs(cut)];
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect([isSlowOver(), isCutOver()]).toEqual([1, 0]);
    stream.end();
    expect([isSlowOver(), isCutOver()]).toEqual([1, 1]);
    expect(answers.expect('ann', PATH, outcomeOf(3), WAIT_MS)).toBeUndefined();
  });

  it('knows neither the sessions of other callers nor streams that never named an address', () => {
    const answers = new SessionAnswers();
    openSession(answers, 'bob');
    openSession(answers, 'ann', '/message?sessionId=2');
    answers.openStream('ann').end();
    expect(answers.expect('ann', PATH, outcomeOf(1), WAIT_MS)).toBeUndefined();
  });

  it('keeps the newer of two streams with one address', () => {
    const answers = new SessionAnswers();
    const older = openSession(answers);
    openSession(answers);
    older.end();
    expect(answers.expect('ann', PATH, outcomeOf(1), WAIT_MS)).toBeDefined();
  });

  it('follows a bounded number of calls of a session', () => {
    const answers = new SessionAnswers();
    const stream = openSession(answers);
    const calls = Array.from({ length: 1_001 }, () => answers.expect('ann', PATH, outcomeOf(1), WAIT_MS));
    expect(calls.filter((call) => call === undefined)).toHaveLength(1);
    stream.end();
  });
});
