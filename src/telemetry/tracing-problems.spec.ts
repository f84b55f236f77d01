import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { createLogger } from './logger.js';
import { exportFailure, TracingProblems, withoutValues } from './tracing-problems.js';

describe('TracingProblems', () => {
  it('warns once per minute with the number of suppressed warnings', () => {
    const log = new PassThrough();
    let nowMs = 1_000_000;
    const problems = new TracingProblems(createLogger('warn', log), () => nowMs);
    problems.report('first');
    problems.report('second');
    nowMs += 59_999;
    problems.report('third');
    nowMs += 1;
    problems.report('fourth');
    const lines = String(log.read()).trim().split('\n');
    expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
      { level: 'warn', event: 'tracing_problem', reason: 'first', unreported_before: 0 },
      { reason: 'fourth', unreported_before: 2 },
    ]);
  });
});

describe('exportFailure', () => {
  it.each([
    [
      'the code of a system error',
      Object.assign(new Error('connect 10.0.0.7:4318'), { code: 'ECONNREFUSED' }),
      'ECONNREFUSED',
    ],
    ['the status of an answer', Object.assign(new Error('Unauthorized'), { code: 401, data: 'token abc' }), '401'],
    ['a message', new Error('Request timed out'), 'Request timed out'],
    [
      'a message up to what it quotes',
      new Error('Invalid character in header ["authorization"] x'),
      'Invalid character in header […',
    ],
  ])('reports %s', (_what, error, expected) => {
    expect(exportFailure(error)).toBe(`export failed: ${expected}`);
  });

  it('reports no details of a value that is not an error', () => {
    expect(exportFailure(undefined)).toBe('export failed');
  });
});

describe('withoutValues', () => {
  it.each([
    ['Header "authorization" has invalid value (se"cret) and will be ignored', 'Header …'],
    [
      "Could not parse environment-provided export URL: 'http://u:p@h', falling back",
      'Could not parse environment-provided export URL: …',
    ],
    ['{"message":"token"}', '…'],
    ['Dropped 7 spans because maxQueueSize reached', 'Dropped 7 spans because maxQueueSize reached'],
  ])('cuts the message %j', (message, expected) => {
    expect(withoutValues(message)).toBe(expected);
  });
});
