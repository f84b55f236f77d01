import { describe, expect, it } from '@jest/globals';
import {
  UpstreamFailure,
  type UpstreamAnswer,
  type UpstreamFailureKind,
  type UpstreamHeaders,
} from './upstream.types.js';
import { retryDelayMs, type RetryQuestion } from './retry-policy.js';

function answer(status: number, headers: UpstreamHeaders = {}): UpstreamAnswer {
  return { status, headers, body: Buffer.alloc(0) };
}

function failure(kind: UpstreamFailureKind): UpstreamFailure {
  return new UpstreamFailure(kind, kind);
}

const question: RetryQuestion = {
  mode: 'idempotent',
  isRenewed: false,
  outcome: answer(503),
  attempt: 1,
  remainingMs: 60_000,
  nowMs: 0,
  random: 0.5,
};

describe('retryDelayMs', () => {
  it.each([408, 425, 429, 500, 502, 503, 504, 529])('repeats a %d when the request may be repeated', (status) => {
    expect(retryDelayMs({ ...question, outcome: answer(status) })).toBe(125);
    expect(retryDelayMs({ ...question, outcome: answer(status), mode: 'refused' })).toBe(125);
    expect(retryDelayMs({ ...question, outcome: answer(status), mode: 'connect' })).toBeUndefined();
    expect(retryDelayMs({ ...question, outcome: answer(status), mode: 'never' })).toBeUndefined();
  });

  it.each([200, 204, 400, 401, 403, 404, 409, 422, 501, 505])('does not repeat a %d', (status) => {
    expect(retryDelayMs({ ...question, outcome: answer(status) })).toBeUndefined();
  });

  it('repeats a request with a new signature at once, in every mode', () => {
    const renewed = { ...question, outcome: answer(403), mode: 'never', isRenewed: true } as const;
    expect(retryDelayMs(renewed)).toBe(0);
    expect(retryDelayMs({ ...renewed, attempt: 3 })).toBeUndefined();
  });

  it('repeats nothing when the provider says that a retry is useless', () => {
    const final = answer(429, { 'x-should-retry': 'false' });
    expect(retryDelayMs({ ...question, outcome: final })).toBeUndefined();
    expect(retryDelayMs({ ...question, outcome: answer(429, { 'x-should-retry': 'true' }) })).toBe(125);
  });

  it.each([
    ['connect', 'idempotent', true],
    ['connect', 'connect', true],
    ['connect', 'refused', true],
    ['connect', 'never', false],
    ['broken', 'idempotent', true],
    ['broken', 'refused', false],
    ['broken', 'connect', false],
    ['incomplete', 'idempotent', true],
    ['incomplete', 'connect', false],
    ['refused_by_egress', 'idempotent', false],
    ['timeout', 'idempotent', false],
    ['interim', 'idempotent', false],
    ['too_large', 'idempotent', false],
    ['redirect', 'idempotent', false],
    ['caller_gone', 'idempotent', false],
  ] as const)('decides on a failure %s in mode %s: repeat is %p', (kind, mode, repeats) => {
    expect(retryDelayMs({ ...question, outcome: failure(kind), mode }) !== undefined).toBe(repeats);
  });

  it('spreads the wait up to a bound that doubles', () => {
    const almostOne = 0.999_999;
    expect(retryDelayMs({ ...question, random: 0 })).toBe(0);
    expect(retryDelayMs({ ...question, random: almostOne })).toBeCloseTo(250, 1);
    expect(retryDelayMs({ ...question, random: almostOne, attempt: 2 })).toBeCloseTo(500, 1);
  });

  it('stops after three attempts', () => {
    expect(retryDelayMs({ ...question, attempt: 2 })).toBeDefined();
    expect(retryDelayMs({ ...question, attempt: 3 })).toBeUndefined();
  });

  it('waits as long as the server requests, and no less than the back-off', () => {
    expect(retryDelayMs({ ...question, outcome: answer(429, { 'retry-after': '2' }) })).toBe(2_000);
    expect(retryDelayMs({ ...question, outcome: answer(429, { 'retry-after-ms': '150' }) })).toBe(150);
    expect(retryDelayMs({ ...question, outcome: answer(429, { 'retry-after': '0' }) })).toBe(125);
  });

  it('leaves a wait of more than five seconds to the caller', () => {
    const patient = { ...question, remainingMs: 600_000 };
    expect(retryDelayMs({ ...patient, outcome: answer(429, { 'retry-after': '5' }) })).toBe(5_000);
    expect(retryDelayMs({ ...patient, outcome: answer(429, { 'retry-after': '6' }) })).toBeUndefined();
    expect(retryDelayMs({ ...patient, outcome: answer(503, { 'retry-after-ms': '5001' }) })).toBeUndefined();
  });

  it('does not begin a wait that the deadline would cut off', () => {
    expect(retryDelayMs({ ...question, remainingMs: 125 })).toBeUndefined();
    expect(retryDelayMs({ ...question, remainingMs: 126 })).toBe(125);
    expect(retryDelayMs({ ...question, outcome: answer(429, { 'retry-after': '61' }) })).toBeUndefined();
    expect(retryDelayMs({ ...question, outcome: answer(429, { 'retry-after': '9'.repeat(20) }) })).toBeUndefined();
  });
});
