import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { GatewayError } from '../common/errors/gateway.error.js';
import { callTo, FakeCaller, failureOf, loopbackPolicy, until } from './__fixtures__/calls.js';
import { closedPort, startHttp, type Loopback } from './__fixtures__/loopback.js';
import { UpstreamClient } from './upstream-client.js';
import {
  type AttemptObserver,
  type RequestSigner,
  type UpstreamAnswer,
  type UpstreamAttempt,
  type UpstreamCall,
  UpstreamFailure,
  type UpstreamHead,
  type UpstreamRequest,
} from './upstream.types.js';

// No jitter: a wait is as long as the server asks, else nothing.
const OPTIONS = { connectionsPerOrigin: 2, connectTimeoutMs: 2_000, random: () => 0 };

let client: UpstreamClient;
const servers: Loopback[] = [];

/** A server that plays one step a request, the last for ever. */
async function script(...steps: readonly ((response: ServerResponse) => unknown)[]): Promise<Loopback> {
  let next = 0;
  const server = await startHttp((_request, response) => {
    steps[Math.min(next, steps.length - 1)]?.(response);
    next += 1;
  });
  servers.push(server);
  return server;
}

/** The status of the answer, or the kind of the failure. */
async function endOf(sent: Promise<UpstreamAnswer>): Promise<unknown> {
  return sent.then(
    ({ status }) => status,
    (failure: unknown) => (failure instanceof UpstreamFailure ? failure.kind : failure),
  );
}

const ok = (response: ServerResponse): unknown => response.end('ok');
const answer =
  (status: number, headers: Record<string, string> = {}) =>
  (response: ServerResponse): unknown =>
    response.writeHead(status, headers).end();
const hangUp = (response: ServerResponse): unknown => response.socket?.destroy();
const half = (response: ServerResponse): unknown => {
  response.writeHead(200, { 'content-length': '100' }).write('half');
  return setTimeout(() => response.socket?.destroy(), 5);
};

beforeEach(() => {
  client = new UpstreamClient(loopbackPolicy(), OPTIONS);
});

afterEach(async () => {
  await client.close();
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

describe('UpstreamClient: retries', () => {
  it.each([
    ['a 503', answer(503)],
    ['a 429', answer(429)],
    ['a 408', answer(408)],
    ['a connection that breaks', hangUp],
    ['half an answer', half],
  ])('repeats an idempotent request after %s', async (_what, step) => {
    const server = await script(step, ok);
    expect((await client.send(callTo(server.url('/'), { retry: 'idempotent' }))).status).toBe(200);
    expect(server.requests).toHaveLength(2);
  });

  it('gives the last answer after three attempts', async () => {
    const server = await script(answer(500), answer(502), answer(503), ok);
    expect((await client.send(callTo(server.url('/'), { retry: 'idempotent' }))).status).toBe(503);
    expect(server.requests).toHaveLength(3);
  });

  it('gives the last failure after three attempts', async () => {
    const server = await script(hangUp);
    expect((await failureOf(client.send(callTo(server.url('/'), { retry: 'idempotent' })))).kind).toBe('broken');
    expect(server.requests).toHaveLength(3);
  });

  it.each([
    ['never', answer(503)],
    ['connect', answer(503)],
  ] as const)('does not repeat an answer in mode %s', async (retry, step) => {
    const server = await script(step, ok);
    expect((await client.send(callTo(server.url('/'), { retry }))).status).toBe(503);
  });

  it('does not repeat in mode connect what the server may have done already', async () => {
    const server = await script(hangUp, ok);
    expect((await failureOf(client.send(callTo(server.url('/'), { retry: 'connect' })))).kind).toBe('broken');
    expect(server.requests).toHaveLength(1);
  });

  it('repeats in mode connect a connection that was refused', async () => {
    const attempts: UpstreamAttempt[] = [];
    const url = new URL(`http://127.0.0.1:${await closedPort()}/`);
    const call = callTo(url, { retry: 'connect', observers: [{ after: (attempt) => attempts.push(attempt) }] });
    expect((await failureOf(client.send(call))).kind).toBe('connect');
    expect(attempts.map(({ number, failure }) => [number, failure])).toEqual([
      [1, 'connect'],
      [2, 'connect'],
      [3, 'connect'],
    ]);
  });

  it('tells of each attempt', async () => {
    const server = await script(answer(503), hangUp, ok);
    const attempts: UpstreamAttempt[] = [];
    await client.send(
      callTo(server.url('/'), { retry: 'idempotent', observers: [{ after: (attempt) => attempts.push(attempt) }] }),
    );
    expect(attempts).toEqual([
      { number: 1, durationMs: expect.any(Number), wasSent: true, status: 503 },
      { number: 2, durationMs: expect.any(Number), wasSent: true, failure: 'broken' },
      { number: 3, durationMs: expect.any(Number), wasSent: true, status: 200 },
    ]);
  });
});

describe('UpstreamClient: a refused signature', () => {
  const isRefused = ({ status }: UpstreamHead): boolean => status === 403;
  /** Signs with the number of the attempt. */
  const signed = (url: URL, renew: RequestSigner['renew']): UpstreamCall => {
    let signatures = 0;
    const sign = async (request: UpstreamRequest): Promise<UpstreamRequest> => {
      signatures += 1;
      return { ...request, headers: { 'x-signature': String(signatures) } };
    };
    return callTo(url, { signer: { sign, renew } });
  };

  it('is made anew, once, though nothing else is repeated', async () => {
    const server = await script(answer(403), ok);
    expect((await client.send(signed(server.url('/'), isRefused))).status).toBe(200);
    expect(server.requests.map(({ headers }) => headers['x-signature'])).toEqual(['1', '2']);

    const deaf = await script(answer(403));
    expect((await client.send(signed(deaf.url('/'), isRefused))).status).toBe(403);
    expect(deaf.requests).toHaveLength(2);
  });

  it('is the answer where no other can be made', async () => {
    const server = await script(answer(403), ok);
    expect((await client.send(signed(server.url('/'), () => false))).status).toBe(403);
    expect(server.requests).toHaveLength(1);
  });
});

describe('UpstreamClient: permission for attempts', () => {
  const refuse = (): never => {
    throw new GatewayError('usage_limit_exceeded', { message: 'no more' });
  };

  it('is asked for before each attempt', async () => {
    const server = await script(answer(503), ok);
    const asked: string[] = [];
    const before = async (number: number): Promise<void> => {
      asked.push(`${number} after ${server.requests.length}`);
    };
    await client.send(callTo(server.url('/'), { retry: 'idempotent', observers: [{ before }] }));
    expect(asked).toEqual(['1 after 0', '2 after 1']);
  });

  it('refuses the call when it refuses the first attempt', async () => {
    const server = await script(ok);
    const call = callTo(server.url('/'), { retry: 'idempotent', observers: [{ before: async () => refuse() }] });
    await expect(client.send(call)).rejects.toThrow('no more');
    expect(server.requests).toHaveLength(0);
  });

  it.each([
    ['answer', answer(503), 503],
    ['failure', hangUp, 'broken'],
  ] as const)('ends the retries with the last %s when it refuses a later attempt', async (_what, step, expected) => {
    const server = await script(step, ok);
    const before = async (number: number): Promise<void> => (number === 1 ? undefined : refuse());
    expect(await endOf(client.send(callTo(server.url('/'), { retry: 'idempotent', observers: [{ before }] })))).toBe(
      expected,
    );
    expect(server.requests).toHaveLength(1);
  });

  it('loses no defect behind the last answer', async () => {
    const server = await script(answer(503), ok);
    const before = async (number: number): Promise<void> => {
      if (number > 1) throw new TypeError('a defect');
    };
    const call = callTo(server.url('/'), { retry: 'idempotent', observers: [{ before }] });
    await expect(client.send(call)).rejects.toThrow('a defect');
  });

  it('tells that nothing was sent where a call ends before it has a connection', async () => {
    const server = await script(answer(200));
    const caller = new FakeCaller();
    const attempts: UpstreamAttempt[] = [];
    const before = async (): Promise<void> => caller.leave();
    const after = (attempt: UpstreamAttempt): number => attempts.push(attempt);
    let starts = 0;
    const started = (): number => (starts += 1);
    const call = callTo(server.url('/'), { caller, observers: [{ before, started, after }] });
    expect(await failureOf(client.send(call))).toMatchObject({ kind: 'caller_gone', wasSent: false });
    expect(attempts).toEqual([{ number: 1, durationMs: expect.any(Number), wasSent: false, failure: 'caller_gone' }]);
    expect(starts).toBe(0);
    expect(server.requests).toHaveLength(0);
  });
});

describe('UpstreamClient: the start of an attempt', () => {
  /** What is told of a call, in order. */
  async function toldOf(
    url: URL,
    changes: Partial<UpstreamCall> = {},
    observer: AttemptObserver = {},
  ): Promise<readonly string[]> {
    const told: string[] = [];
    const call = callTo(url, {
      retry: 'idempotent',
      signer: {
        sign: async (request) => {
          told.push('signed');
          return request;
        },
      },
      ...changes,
      observers: [
        {
          before: async () => void told.push('admitted'),
          started: () => void told.push('started'),
          after: ({ status, failure }) => void told.push(String(status ?? failure)),
          ...observer,
        },
      ],
    });
    await client.send(call).catch(() => undefined);
    return told;
  }

  it('is told when it was signed and admitted, for each attempt', async () => {
    const server = await script(answer(503), ok);
    expect(await toldOf(server.url('/'))).toEqual(
      ['503', '200'].flatMap((status) => ['signed', 'admitted', 'started', status]),
    );
  });

  it('is not told of one that is refused, nor of one that cannot be signed', async () => {
    const server = await script(ok);
    const refuse = (): Promise<never> => Promise.reject(new Error('no'));
    expect(await toldOf(server.url('/'), {}, { before: refuse })).toEqual(['signed']);
    expect(await toldOf(server.url('/'), { signer: { sign: refuse } })).toEqual([]);
  });

  it('is told of one that no connection comes about for', async () => {
    const nobody = new URL(`http://127.0.0.1:${await closedPort()}/`);
    expect(await toldOf(nobody, { retry: 'never' })).toEqual(['signed', 'admitted', 'started', 'connect']);
    const forbidden = new URL('https://10.0.0.1/');
    expect(await toldOf(forbidden)).toEqual(['signed', 'admitted', 'started', 'refused_by_egress']);
  });
});

describe('UpstreamClient: Retry-After', () => {
  it('waits as long as it is asked', async () => {
    const server = await script(answer(429, { 'retry-after-ms': '60' }), ok);
    const started = Date.now();
    expect((await client.send(callTo(server.url('/'), { retry: 'idempotent' }))).status).toBe(200);
    expect(Date.now() - started).toBeGreaterThanOrEqual(58);
  });

  it('gives the answer at once when the wait would pass the deadline', async () => {
    const server = await script(answer(429, { 'retry-after': '3' }), ok);
    const started = Date.now();
    const call = callTo(server.url('/'), { retry: 'idempotent', timeoutMs: 2_000 });
    expect((await client.send(call)).status).toBe(429);
    expect(Date.now() - started).toBeLessThan(1_000);
    expect(server.requests).toHaveLength(1);
  });

  it('counts a date from the clock of the client', async () => {
    const now = Date.UTC(2026, 10, 21, 12, 0, 0);
    const fixed = new UpstreamClient(loopbackPolicy(), {
      connectionsPerOrigin: 1,
      connectTimeoutMs: 2_000,
      now: () => now,
    });
    const server = await script(answer(503, { 'retry-after': 'Sat, 21 Nov 2026 12:00:03 GMT' }), ok);
    expect((await fixed.send(callTo(server.url('/'), { retry: 'idempotent', timeoutMs: 2_000 }))).status).toBe(503);
    await fixed.close();
  });

  it('holds the deadline over all attempts', async () => {
    const server = await script(answer(503), answer(503), () => undefined);
    const call = callTo(server.url('/'), { retry: 'idempotent', timeoutMs: 250 });
    expect((await failureOf(client.send(call))).kind).toBe('timeout');
    expect(server.requests).toHaveLength(3);
  });
});

describe('UpstreamClient: a retry that the deadline forbids', () => {
  const TIMEOUT_MS = 500;
  const limited = answer(429, { 'retry-after-ms': '1' });

  it.each([
    ['answer', limited, 429],
    ['failure', hangUp, 'broken'],
  ] as const)('leaves the last %s when it waits for permission', async (_what, step, expected) => {
    const server = await script(step, ok);
    const attempts: UpstreamAttempt[] = [];
    const call = callTo(server.url('/'), {
      retry: 'idempotent',
      timeoutMs: TIMEOUT_MS,
      observers: [
        {
          before: (number) => delay(number === 1 ? 0 : TIMEOUT_MS + 50),
          after: (attempt) => attempts.push(attempt),
        },
      ],
    });
    expect(await endOf(client.send(call))).toBe(expected);
    expect(attempts[1]).toMatchObject({ number: 2, wasSent: false, failure: 'timeout' });
    expect(server.requests).toHaveLength(1);
  });

  it('leaves the last answer, with its headers, when its signature hangs', async () => {
    const server = await script(limited, ok);
    let signed = 0;
    const sign = (request: UpstreamRequest): Promise<UpstreamRequest> => {
      signed += 1;
      return signed === 1 ? Promise.resolve(request) : new Promise(() => undefined);
    };
    const call = callTo(server.url('/'), { retry: 'idempotent', timeoutMs: TIMEOUT_MS, signer: { sign } });
    expect(await client.send(call)).toMatchObject({ status: 429, headers: { 'retry-after-ms': '1' } });
  });

  it('leaves the last answer when the wait is not over in time', async () => {
    const late = (response: ServerResponse): unknown => delay(50).then(() => waitNearly(response));
    const waitNearly = answer(429, { 'retry-after-ms': String(TIMEOUT_MS - 1) });
    const server = await script(late, ok);
    const slow = new UpstreamClient(loopbackPolicy(), { ...OPTIONS, now: () => 0 });
    const call = callTo(server.url('/'), { retry: 'idempotent', timeoutMs: TIMEOUT_MS });
    expect(await endOf(slow.send(call))).toBe(429);
    await slow.close();
  });

  it('is not told from one that was sent and not answered: that is a timeout', async () => {
    const server = await script(limited, () => undefined);
    const call = callTo(server.url('/'), { retry: 'idempotent', timeoutMs: TIMEOUT_MS });
    expect(await endOf(client.send(call))).toBe('timeout');
    expect(server.requests).toHaveLength(2);
  });

  it('does not hide that the caller has left', async () => {
    const server = await script(limited, ok);
    const caller = new FakeCaller();
    const before = async (number: number): Promise<void> => (number === 1 ? undefined : caller.leave());
    const call = callTo(server.url('/'), { retry: 'idempotent', caller, observers: [{ before }] });
    expect(await endOf(client.send(call))).toBe('caller_gone');
  });
});

describe('UpstreamClient: signatures', () => {
  it('signs each attempt anew, at its own time', async () => {
    let now = 1_000;
    const ticking = new UpstreamClient(loopbackPolicy(), {
      connectionsPerOrigin: 1,
      connectTimeoutMs: 2_000,
      random: () => 0,
      now: () => (now += 1),
    });
    const times: number[] = [];
    const sign = (request: UpstreamRequest, at: Date): Promise<UpstreamRequest> => {
      times.push(at.getTime());
      return Promise.resolve({ ...request, headers: { ...request.headers, 'x-signature': String(times.length) } });
    };
    const server = await script(answer(500), ok);
    await ticking.send(callTo(server.url('/'), { retry: 'idempotent', signer: { sign } }));

    expect(server.requests.map(({ headers }) => headers['x-signature'])).toEqual(['1', '2']);
    expect(times[1]).toBeGreaterThan(times[0] ?? Infinity);
    await ticking.close();
  });

  it('lets the error of a signature up', async () => {
    const server = await script(ok);
    const sign = (): Promise<UpstreamRequest> => Promise.reject(new Error('no credentials'));
    await expect(client.send(callTo(server.url('/'), { signer: { sign } }))).rejects.toThrow('no credentials');
    expect(server.requests).toHaveLength(0);
  });

  it('counts a signature that hangs against the deadline', async () => {
    const server = await script(ok);
    const sign = (): Promise<UpstreamRequest> => new Promise(() => undefined);
    expect((await failureOf(client.send(callTo(server.url('/'), { signer: { sign }, timeoutMs: 20 })))).kind).toBe(
      'timeout',
    );
  });
});

describe('UpstreamClient: the caller leaves', () => {
  it('cuts the connection at once and does not repeat', async () => {
    const server = await script(() => undefined);
    const caller = new FakeCaller();
    const running = failureOf(client.send(callTo(server.url('/'), { retry: 'idempotent', caller })));
    await until(() => server.requests.length === 1);
    const left = Date.now();
    caller.leave();

    expect((await running).kind).toBe('caller_gone');
    await until(() => server.requests[0]?.socket.destroyed === true);
    expect(Date.now() - left).toBeLessThan(2_500);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(server.requests).toHaveLength(1);
    expect(caller.listeners.size).toBe(0);
  });

  it('ends the wait before a retry', async () => {
    const server = await script(answer(429, { 'retry-after': '60' }));
    const caller = new FakeCaller();
    const running = failureOf(
      client.send(callTo(server.url('/'), { retry: 'idempotent', caller, timeoutMs: 120_000 })),
    );
    await until(() => server.requests.length === 1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    caller.leave();
    expect((await running).kind).toBe('caller_gone');
    expect(server.requests).toHaveLength(1);
  });

  it('sends nothing for a caller that has left already', async () => {
    const server = await script(ok);
    const caller = new FakeCaller();
    caller.leave();
    expect((await failureOf(client.send(callTo(server.url('/'), { caller })))).kind).toBe('caller_gone');
    expect(server.requests).toHaveLength(0);
  });

  it('does not send what still waits for a connection, and keeps that connection', async () => {
    const single = new UpstreamClient(loopbackPolicy(), { connectionsPerOrigin: 1, connectTimeoutMs: 2_000 });
    const held: ServerResponse[] = [];
    const server = await script((response) => held.push(response), ok);
    const first = single.send(callTo(server.url('/first')));
    await until(() => held.length === 1);

    const caller = new FakeCaller();
    const second = failureOf(single.send(callTo(server.url('/second'), { caller })));
    const third = single.send(callTo(server.url('/third')));
    caller.leave();
    expect((await second).kind).toBe('caller_gone');
    held[0]?.end('first');

    expect((await first).body.toString()).toBe('first');
    expect((await third).status).toBe(200);
    expect(server.requests.map(({ url }) => url)).toEqual(['/first', '/third']);
    expect(server.connections).toBe(1);
    await single.close();
  });
});
