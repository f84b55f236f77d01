import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { Clock } from '../../common/time/clock.js';
import { OpenStreams, type Streaming } from './open-streams.js';

const NOW = new Date('2026-11-21T10:00:00Z');
const BY_KEY: Streaming['caller'] = { kind: 'api_key', claims: { exp: 1 } };
const BY_TOKEN: Streaming['caller'] = { kind: 'oauth', claims: { exp: NOW.getTime() / 1_000 + 5 } };
const REFUSED = new GatewayError('api_key_invalid');
const DOWN = new GatewayError('identity_provider_unavailable');

let looks: Streaming['caller'][];
let answer: () => Promise<void>;
let ended: unknown[];
let streams: OpenStreams;

beforeEach(() => {
  jest.useFakeTimers({ now: NOW });
  looks = [];
  ended = [];
  answer = async () => undefined;
  streams = new OpenStreams(new Clock());
});

afterEach(() => {
  streams.onApplicationShutdown();
  jest.useRealTimers();
});

function watch(caller: Streaming['caller'], own = (): Promise<void> => answer()): () => void {
  const recheck = async (): Promise<void> => {
    looks.push(caller);
    await own();
  };
  const over = streams.watch({ caller, recheck }, (reason) => {
    ended.push(reason);
    over();
  });
  return over;
}

describe('OpenStreams', () => {
  it('ends a stream once its caller is refused', async () => {
    watch(BY_KEY);
    await jest.advanceTimersByTimeAsync(30_000);
    expect(ended).toEqual([]);
    answer = () => Promise.reject(REFUSED);
    await jest.advanceTimersByTimeAsync(3_000);
    expect(ended).toEqual([REFUSED]);
  });

  it.each([
    ['a provider', DOWN],
    ['a database', new Error('connection refused')],
  ])('keeps a stream open while %s is down and the caller cannot be checked', async (_what, failure) => {
    watch(BY_KEY);
    answer = () => Promise.reject(failure);
    await jest.advanceTimersByTimeAsync(30_000);
    expect(ended).toEqual([]);
  });

  it('ends a stream when its token expires, even if the caller cannot be checked', async () => {
    watch(BY_TOKEN);
    answer = () => Promise.reject(DOWN);
    await jest.advanceTimersByTimeAsync(4_999);
    expect(ended).toEqual([]);
    await jest.advanceTimersByTimeAsync(1);
    expect(ended).toMatchObject([{ code: 'token_invalid', reason: 'expired', cause: DOWN }]);
  });

  it('checks an expired token at once and other callers every few seconds', async () => {
    watch(BY_TOKEN);
    watch(BY_KEY);
    await jest.advanceTimersByTimeAsync(5_000);
    expect(looks).toEqual([BY_TOKEN, BY_KEY, BY_TOKEN]);
  });

  it('ends a stream in time while the checks of many others hang', async () => {
    for (let each = 0; each < 100; each += 1) watch(BY_KEY, () => new Promise(() => undefined));
    watch(BY_KEY, () => Promise.reject(REFUSED));
    await jest.advanceTimersByTimeAsync(4_000);
    expect(ended).toEqual([REFUSED]);
    watch(BY_TOKEN, () => Promise.reject(DOWN));
    await jest.advanceTimersByTimeAsync(1_000);
    expect(ended).toMatchObject([REFUSED, { reason: 'expired' }]);
  });

  it('does not repeat a check that is still running', async () => {
    watch(BY_KEY);
    answer = () => new Promise((resolve) => setTimeout(resolve, 10_000));
    await jest.advanceTimersByTimeAsync(12_000);
    expect(looks).toHaveLength(1);
  });

  it('uses one timer for all streams, and none without streams', () => {
    const over = Array.from({ length: 3 }, () => watch(BY_KEY));
    expect(jest.getTimerCount()).toBe(1);
    for (const end of over) end();
    expect(jest.getTimerCount()).toBe(0);
  });
});
