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

// No jitter: a wait is as long as the server requests, else nothing.
const OPTIONS = { connectionsPerOrigin: 2, connectTimeoutMs: 10_000, random: () => 0 };

let client: UpstreamClient;
const servers: Loopback[] = [];

/** A server that plays one step per request, and repeats the last. */
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

  it('returns the last answer after three attempts', async () => {
    const server = await script(answer(500), answer(502), answer(503), ok);
    expect((await client.send(callTo(server.url('/'), { retry: 'idempotent' }))).status).toBe(503);
    expect(server.requests).toHaveLength(3);
  });

  it('rejects with the last failure after three attempts', async () => {
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

  it('does not repeat a request in mode connect that the server may have handled', async () => {
    const server = await script(hangUp, ok);
    expect((await failureOf(client.send(callTo(server.url('/'), { retry: 'connect' })))).kind).toBe('broken');
    expect(server.requests).toHaveLength(1);
  });

  it('repeats a refused connection in mode connect', async () => {
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

  it('reports each attempt', async () => {
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

  it('signs again once after a refused signature, though nothing else is repeated', async () => {
    const server = await script(answer(403), ok);
    expect((await client.send(signed(server.url('/'), isRefused))).status).toBe(200);
    expect(server.requests.map(({ headers }) => headers['x-signature'])).toEqual(['1', '2']);

    const deaf = await script(answer(403));
    expect((await client.send(signed(deaf.url('/'), isRefused))).status).toBe(403);
    expect(deaf.requests).toHaveLength(2);
  });

  it('returns the refusal of a signature when no other can be made', async () => {
    const server = await script(answer(403), ok);
    expect((await client.send(signed(server.url('/'), () => false))).status).toBe(403);
    expect(server.requests).toHaveLength(1);
  });
});

describe('UpstreamClient: permission for attempts', () => {
  const refuse = (): never => {
    throw new GatewayError('usage_limit_exceeded', { message: 'no more' });
  };

  it('requests permission before each attempt', async () => {
    const server = await script(answer(503), ok);
    const asked: string[] = [];
    const before = async (number: number): Promise<void> => {
      asked.push(`${number} after ${server.requests.length}`);
    };
    await client.send(callTo(server.url('/'), { retry: 'idempotent', observers: [{ before }] }));
    expect(asked).toEqual(['1 after 0', '2 after 1']);
  });

  it('refuses the call when the first attempt gets no permission', async () => {
    const server = await script(ok);
    const call = callTo(server.url('/'), { retry: 'idempotent', observers: [{ before: async () => refuse() }] });
    await expect(client.send(call)).rejects.toThrow('no more');
    expect(server.requests).toHaveLength(0);
  });

  it.each([
    ['answer', answer(503), 503],
    ['failure', hangUp, 'broken'],
  ] as const)(
    'ends the retries with the last %s when a later attempt gets no permission',
    async (_what, step, expected) => {
      const server = await script(step, ok);
      const before = async (number: number): Promise<void> => (number === 1 ? undefined : refuse());
      expect(await endOf(client.send(callTo(server.url('/'), { retry: 'idempotent', observers: [{ before }] })))).toBe(
        expected,
      );
      expect(server.requests).toHaveLength(1);
    },
  );

  it('rejects with a defect instead of the last answer', async () => {
    const server = await script(answer(503), ok);
    const before = async (number: number): Promise<void> => {
      if (number > 1) throw new TypeError('a defect');
    };
    const call = callTo(server.url('/'), { retry: 'idempotent', observers: [{ before }] });
    await expect(client.send(call)).rejects.toThrow('a defect');
  });

  it('reports that nothing was sent when a call ends before it has a connection', async () => {
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
  /** The events of a call that its observers see, in order. */
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

  it('reports the start of each attempt after it was signed and admitted', async () => {
    const server = await script(answer(503), ok);
    expect(await toldOf(server.url('/'))).toEqual(
      ['503', '200'].flatMap((status) => ['signed', 'admitted', 'started', status]),
    );
  });

  it('reports no start of an attempt that is refused or cannot be signed', async () => {
    const server = await script(ok);
    const refuse = (): Promise<never> => Promise.reject(new Error('no'));
    expect(await toldOf(server.url('/'), {}, { before: refuse })).toEqual(['signed']);
    expect(await toldOf(server.url('/'), { signer: { sign: refuse } })).toEqual([]);
  });

  it('reports the start of an attempt whose connection fails', async () => {
    const nobody = new URL(`http://127.0.0.1:${await closedPort()}/`);
    expect(await toldOf(nobody, { retry: 'never' })).toEqual(['signed', 'admitted', 'started', 'connect']);
    const forbidden = new URL('https://10.0.0.1/');
    expect(await toldOf(forbidden)).toEqual(['signed', 'admitted', 'started', 'refused_by_egress']);
  });
});

describe('UpstreamClient: Retry-After', () => {
  it('waits as long as Retry-After requests', async () => {
    const server = await script(answer(429, { 'retry-after-ms': '60' }), ok);
    const started = Date.now();
    expect((await client.send(callTo(server.url('/'), { retry: 'idempotent' }))).status).toBe(200);
    expect(Date.now() - started).toBeGreaterThanOrEqual(58);
  });

  it('returns the answer at once when the wait would pass the deadline', async () => {
    const server = await script(answer(429, { 'retry-after': '30' }), ok);
    const started = Date.now();
    const call = callTo(server.url('/'), { retry: 'idempotent', timeoutMs: 20_000 });
    expect((await client.send(call)).status).toBe(429);
    expect(Date.now() - started).toBeLessThan(10_000);
    expect(server.requests).toHaveLength(1);
  });

  it("counts a date in Retry-After from the client's clock", async () => {
    const now = Date.UTC(2026, 10, 21, 12, 0, 0);
    const fixed = new UpstreamClient(loopbackPolicy(), {
      connectionsPerOrigin: 1,
      connectTimeoutMs: 10_000,
      now: () => now,
    });
    const server = await script(answer(503, { 'retry-after': 'Sat, 21 Nov 2026 12:00:03 GMT' }), ok);
    expect((await fixed.send(callTo(server.url('/'), { retry: 'idempotent', timeoutMs: 2_000 }))).status).toBe(503);
    await fixed.close();
  });

  it('keeps the deadline over all attempts', async () => {
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
  ] as const)('returns the last %s when the deadline ends the wait for permission', async (_what, step, expected) => {
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

  it('returns the last answer, with its headers, when the deadline ends a hanging signature', async () => {
    const server = await script(limited, ok);
    let signed = 0;
    const sign = (request: UpstreamRequest): Promise<UpstreamRequest> => {
      signed += 1;
      return signed === 1 ? Promise.resolve(request) : new Promise(() => undefined);
    };
    const call = callTo(server.url('/'), { retry: 'idempotent', timeoutMs: TIMEOUT_MS, signer: { sign } });
    expect(await client.send(call)).toMatchObject({ status: 429, headers: { 'retry-after-ms': '1' } });
  });

  it('returns the last answer when the deadline comes before the end of the wait', async () => {
    const late = (response: ServerResponse): unknown => delay(50).then(() => waitNearly(response));
    const waitNearly = answer(429, { 'retry-after-ms': String(TIMEOUT_MS - 1) });
    const server = await script(late, ok);
    const slow = new UpstreamClient(loopbackPolicy(), { ...OPTIONS, now: () => 0 });
    const call = callTo(server.url('/'), { retry: 'idempotent', timeoutMs: TIMEOUT_MS });
    expect(await endOf(slow.send(call))).toBe(429);
    await slow.close();
  });

  it('reports a timeout for a retry that was sent and not answered', async () => {
    const server = await script(limited, () => undefined);
    const call = callTo(server.url('/'), { retry: 'idempotent', timeoutMs: TIMEOUT_MS });
    expect(await endOf(client.send(call))).toBe('timeout');
    expect(server.requests).toHaveLength(2);
  });

  it('reports that the caller has left when the deadline forbids a retry', async () => {
    const server = await script(limited, ok);
    const caller = new FakeCaller();
    const before = async (number: number): Promise<void> => (number === 1 ? undefined : caller.leave());
    const call = callTo(server.url('/'), { retry: 'idempotent', caller, observers: [{ before }] });
    expect(await endOf(client.send(call))).toBe('caller_gone');
  });
});

describe('UpstreamClient: signatures', () => {
  it('signs each attempt again, at its own time', async () => {
    let now = 1_000;
    const ticking = new UpstreamClient(loopbackPolicy(), {
      connectionsPerOrigin: 1,
      connectTimeoutMs: 10_000,
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

  it('rejects with the error of a signature', async () => {
    const server = await script(ok);
    const sign = (): Promise<UpstreamRequest> => Promise.reject(new Error('no credentials'));
    await expect(client.send(callTo(server.url('/'), { signer: { sign } }))).rejects.toThrow('no credentials');
    expect(server.requests).toHaveLength(0);
  });

  it('counts a hanging signature against the deadline', async () => {
    const server = await script(ok);
    const sign = (): Promise<UpstreamRequest> => new Promise(() => undefined);
    expect((await failureOf(client.send(callTo(server.url('/'), { signer: { sign }, timeoutMs: 20 })))).kind).toBe(
      'timeout',
    );
  });
});

describe('UpstreamClient: the caller leaves', () => {
  it('cuts the connection at once when the caller leaves, and does not repeat', async () => {
    const server = await script(() => undefined);
    const caller = new FakeCaller();
    const running = failureOf(client.send(callTo(server.url('/'), { retry: 'idempotent', caller })));
    await until(() => server.requests.length === 1);
    caller.leave();

    expect((await running).kind).toBe('caller_gone');
    await until(() => server.requests[0]?.socket.destroyed === true);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(server.requests).toHaveLength(1);
    expect(caller.listeners.size).toBe(0);
  });

  it('ends the wait before a retry when the caller leaves', async () => {
    const server = await script(answer(429, { 'retry-after': '5' }));
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

  it('sends nothing for a caller that has already left', async () => {
    const server = await script(ok);
    const caller = new FakeCaller();
    caller.leave();
    expect((await failureOf(client.send(callTo(server.url('/'), { caller })))).kind).toBe('caller_gone');
    expect(server.requests).toHaveLength(0);
  });

  it('does not send a request that still waits for a connection when the caller leaves, and keeps that connection', async () => {
    const single = new UpstreamClient(loopbackPolicy(), { connectionsPerOrigin: 1, connectTimeoutMs: 10_000 });
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
