import { get, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import express, { type Response } from 'express';
import type { Principal } from '../src/access/principal.js';
import { GatewayError } from '../src/common/errors/gateway.error.js';
import { HttpClientConnection } from '../src/common/http/client-connection.js';
import { readString } from '../src/common/json/read.js';
import type { BillableStream, ReportedUsage, StreamMeter } from '../src/gateway/billable-use.js';
import { ProviderCallService } from '../src/gateway/provider-call.service.js';
import { RequestContext } from '../src/telemetry/request-context.js';
import { readTraceHeaders } from '../src/telemetry/trace-headers.js';
import { VirtualKeyCache } from '../src/virtual-keys/virtual-key.cache.js';
import { eventually } from './support/eventually.js';
import { hangUp, inTurn, json, type Reply } from './support/fake-provider.js';
import { startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

const INPUT_BOUND = 10;
const OUTPUT_BOUND = 100;
const SILENCE_MS = 300;
/** One token of output. */
const TOKEN = 'data: tok\n\n';
const USAGE = 'data: {"input":7,"output":3}\n\n';

/** Counts tokens as they arrive, until the stream reports its usage. */
class EventMeter implements StreamMeter {
  #tokens = 0;
  #reported: ReportedUsage | undefined;

  push(chunk: Buffer): Buffer {
    const text = chunk.toString();
    this.#tokens += text.split('tok').length - 1;
    const usage = /"input":(\d+),"output":(\d+)/.exec(text);
    if (usage) this.#reported = { counts: { input: Number(usage[1]), output: Number(usage[2]) } };
    return chunk;
  }

  end(): Buffer {
    return Buffer.alloc(0);
  }

  get usage(): ReportedUsage {
    return this.#reported ?? { counts: { output: this.#tokens }, isComputed: true };
  }

  get hasOutput(): boolean {
    return this.#tokens > 0;
  }
}

const USE: BillableStream = {
  endpoint: 'chat',
  model: 'a-model',
  estimate: () => ({ unit: 'output', counts: { input: INPUT_BOUND, output: OUTPUT_BOUND } }),
  newMeter: () => new EventMeter(),
};

let gateway: UsageGateway;
let virtualKey: string;
/** Gives up on a provider that falls silent. */
let hasty: string;
let principal: Principal;
/** A minimal route: streams one metered call to its client. */
let front: Server;
/** How the calls of the route ended: `done`, or a code. */
let outcomes: string[];

beforeAll(async () => {
  gateway = await startUsageGateway({ USAGE_LEASE_MARGIN_MS: '1000' });
  virtualKey = await gateway.virtualKey('openai', { config: { timeout_ms: 10_000 } });
  hasty = await gateway.virtualKey('openai', { config: { timeout_ms: SILENCE_MS } });
  const { organisation_id: organisationId } = await gateway.admin.read('/v1/workspaces/default');
  principal = {
    kind: 'api_key',
    id: '0193a000-0000-7000-8000-000000000001',
    organisationId: readString(organisationId, 'organisation_id'),
    workspaceId: null,
    scopes: new Set(),
    user: null,
    enforcedMetadata: {},
    defaultMetadata: {},
    rateLimits: [],
    expiresAt: null,
  };
  const route = express();
  route.use((request, response) => {
    stream(request, response).then(
      () => outcomes.push('done'),
      (error: unknown) => {
        outcomes.push(error instanceof GatewayError ? error.code : error instanceof Error ? error.message : 'unknown');
        if (response.headersSent) response.destroy();
        else response.writeHead(error instanceof GatewayError ? error.status : 500).end();
      },
    );
  });
  await new Promise<void>((resolve) => {
    front = route.listen(0, '127.0.0.1', () => resolve());
  });
});
beforeEach(async () => {
  await gateway.reset();
  outcomes = [];
});
afterEach(async () => expect(await gateway.books.faults()).toEqual([]));
afterAll(async () => {
  front.close();
  front.closeAllConnections();
  await gateway.close();
});

async function stream(request: IncomingMessage, response: Response): Promise<void> {
  const { app } = gateway.app;
  const key = await app
    .get(VirtualKeyCache, { strict: false })
    .find(principal, request.url?.slice(1) ?? '', Date.now());
  if (key === undefined) throw new Error('there is no such virtual key');
  const context = {
    principal,
    virtualKey: key,
    modelNames: undefined,
    strict: false,
    bytes: undefined,
    request: new RequestContext(readTraceHeaders(request.headers), new HttpClientConnection(response)),
    answer: response,
  };
  const operation = {
    operation: 'chat',
    model: USE.model,
    request: { method: 'POST', path: '/chat/completions', body: {} },
    retry: 'idempotent',
  } as const;
  await app.get(ProviderCallService, { strict: false }).streamBillable(context, operation, USE, {
    sinkFor: ({ status }) => {
      if (status !== 200) return undefined;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      return response;
    },
  });
}

/** Opens a stream, and records its bytes and how it ended. */
interface Client {
  readonly text: string;
  readonly end: 'whole' | 'broken' | undefined;
  readonly status: number | undefined;
  readonly message: IncomingMessage | undefined;
  leave(): void;
}

function open(isReading = true, slug = virtualKey): Client {
  const address = front.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const state: { text: string; end: Client['end']; status: number | undefined; message: IncomingMessage | undefined } =
    {
      text: '',
      end: undefined,
      status: undefined,
      message: undefined,
    };
  const request = get({ port: address.port, host: '127.0.0.1', path: `/${slug}`, agent: false }, (message) => {
    state.status = message.statusCode;
    state.message = message;
    message.on('error', () => undefined);
    message.on('close', () => (state.end = message.complete ? 'whole' : 'broken'));
    if (isReading) message.on('data', (chunk: Buffer) => (state.text += chunk.toString()));
  });
  request.on('error', () => undefined);
  return Object.assign(state, { leave: () => void request.destroy() });
}

/** A stream that begins with these events; `more` continues it. */
function events(first: string, more: (response: ServerResponse) => void = () => undefined): Reply {
  return (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (first === '') response.flushHeaders();
    else response.write(first);
    more(response);
  };
}

async function rows(count: number): Promise<readonly unknown[]> {
  const found = await gateway.books.ledger(count);
  return found.map(({ outcome, source, quantities }) => ({ outcome, source, ...quantities }));
}

async function used(policyId: string): Promise<unknown> {
  const [entity] = await gateway.admin.list(`/v1/policies/usage-limits/${policyId}/entities`);
  return entity;
}

/** Room enough for some calls. */
const limitTokens = (credit_limit = 1_000): Promise<string> => gateway.limit({ type: 'tokens', credit_limit });

describe('a metered stream', () => {
  it('passes a metered stream on byte for byte, and charges the usage that the provider reports', async () => {
    const policy = await limitTokens();
    const text = `${TOKEN}${TOKEN}${TOKEN}${USAGE}`;
    gateway.provider.replyWith(events(text, (response) => response.end()));
    const client = open();
    await eventually(() => client.end === 'whole');
    expect(client.text).toBe(text);
    expect(await rows(1)).toEqual([{ outcome: 'answered', source: 'provider', input: 7, output: 3 }]);
    expect(await used(policy)).toMatchObject({ current_usage: 10, reserved: 0 });
    const [row] = await gateway.books.ledger(1);
    expect(row?.firstTokenMs).toEqual(expect.any(Number));
  });

  it('charges the bound for a stream whose provider reports far more, and reserves nothing for it', async () => {
    const policy = await limitTokens(INPUT_BOUND + OUTPUT_BOUND);
    const report = 'data: {"input":7,"output":1000000}\n\n';
    gateway.provider.replyWith(events(`${TOKEN}${report}`, (response) => response.end()));
    const client = open();
    await eventually(() => client.end === 'whole');
    expect(await rows(1)).toEqual([
      { outcome: 'answered', source: 'capped', input: INPUT_BOUND, output: OUTPUT_BOUND },
    ]);
    expect(await used(policy)).toMatchObject({ current_usage: INPUT_BOUND + OUTPUT_BOUND, reserved: 0 });
  });

  it('records a stream without a limit in the ledger only', async () => {
    gateway.provider.replyWith(events(`${TOKEN}${USAGE}`, (response) => response.end()));
    open();
    await eventually(() => outcomes.length === 1);
    expect(await rows(1)).toEqual([{ outcome: 'answered', source: 'provider', input: 7, output: 3 }]);
  });

  it('closes the stream at the provider within 100 ms after the client left, and charges the tokens so far', async () => {
    const policy = await limitTokens();
    const tookMs: number[] = [];
    // The fastest of three counts: a busy machine is not a fault of the gateway.
    for (let at = 0; at < 3; at += 1) {
      let closedAt: number | undefined;
      gateway.provider.replyWith(
        events(TOKEN + TOKEN, (response) => response.on('close', () => (closedAt = performance.now()))),
      );
      const client = open();
      await eventually(() => client.text.length > 0);
      const leftAt = performance.now();
      client.leave();
      await eventually(() => closedAt !== undefined);
      tookMs.push((closedAt ?? Infinity) - leftAt);
    }
    expect(Math.min(...tookMs)).toBeLessThan(100);
    const row = { outcome: 'cancelled', source: 'computed', input: INPUT_BOUND, output: 2 };
    expect(await rows(3)).toEqual([row, row, row]);
    expect(await used(policy)).toMatchObject({ current_usage: 3 * (INPUT_BOUND + 2), reserved: 0 });
  });

  it('charges the input when the client leaves before the first byte', async () => {
    await limitTokens();
    gateway.provider.replyWith(events(''));
    const client = open();
    await eventually(() => gateway.provider.calls.length === 1);
    client.leave();
    expect(await rows(1)).toEqual([{ outcome: 'cancelled', source: 'computed', input: INPUT_BOUND, output: 0 }]);
  });

  it('breaks the stream for its client when the provider breaks off, and charges the tokens so far', async () => {
    await limitTokens();
    gateway.provider.replyWith(events(TOKEN, (response) => setTimeout(() => response.destroy(), 50)));
    const client = open();
    await eventually(() => client.end === 'broken');
    expect(client.text).toBe(TOKEN);
    expect(await rows(1)).toEqual([{ outcome: 'unknown', source: 'computed', input: INPUT_BOUND, output: 1 }]);
    expect(outcomes).toEqual(['provider_invalid_response']);
    expect(gateway.provider.calls).toHaveLength(1);
  });

  it('breaks the stream for its client when the provider falls silent, and charges the tokens so far', async () => {
    await limitTokens();
    gateway.provider.replyWith(events(TOKEN));
    const client = open(true, hasty);
    await eventually(() => client.end === 'broken');
    expect(await rows(1)).toEqual([{ outcome: 'unknown', source: 'computed', input: INPUT_BOUND, output: 1 }]);
    expect(outcomes).toEqual(['provider_timeout']);
  });

  it('slows the provider down for a client that reads slowly, and loses no byte', async () => {
    await limitTokens();
    const size = 32 * 1024 * 1024;
    let sent = 0;
    gateway.provider.replyWith(
      events(TOKEN, (response) => {
        const block = Buffer.alloc(64 * 1024, 'x');
        const write = (): void => {
          while (sent < size) {
            sent += block.length;
            if (!response.write(block)) return void response.once('drain', write);
          }
          response.end(USAGE);
        };
        write();
      }),
    );
    const client = open(false, hasty);
    await eventually(() => client.message !== undefined);
    await sleep(2 * SILENCE_MS);
    expect(sent).toBeLessThan(size);
    let received = 0;
    client.message?.on('data', (chunk: Buffer) => (received += chunk.length));
    await eventually(() => client.end === 'whole');
    expect(received).toBe(TOKEN.length + size + USAGE.length);
    expect(await rows(1)).toEqual([{ outcome: 'answered', source: 'provider', input: 7, output: 3 }]);
  });

  it('repeats a stream until its first byte, with one ledger row per attempt', async () => {
    await limitTokens();
    const begun = events('', (response) => setTimeout(() => response.destroy(), 20));
    const whole = events(`${TOKEN}${USAGE}`, (response) => response.end());
    gateway.provider.replyWith(inTurn(json({}, 503, { 'retry-after-ms': '1' }), begun, whole));
    const client = open();
    await eventually(() => client.end === 'whole');
    expect(client.text).toBe(`${TOKEN}${USAGE}`);
    const [first, second, third] = await rows(3);
    expect(first).toMatchObject({ outcome: 'failed' });
    expect(second).toEqual({ outcome: 'unknown', source: 'presumed', input: INPUT_BOUND, output: OUTPUT_BOUND });
    expect(third).toEqual({ outcome: 'answered', source: 'provider', input: 7, output: 3 });
  });

  it('does not call the provider when the limit has no room for the stream', async () => {
    await limitTokens(INPUT_BOUND + OUTPUT_BOUND - 1);
    gateway.provider.replyWith(hangUp);
    const client = open();
    await eventually(() => client.status !== undefined);
    expect(client.status).toBe(412);
    expect(gateway.provider.calls).toHaveLength(0);
  });

  it('reserves more when the stream is longer than expected', async () => {
    const policy = await limitTokens(500);
    gateway.provider.replyWith(
      events(TOKEN.repeat(OUTPUT_BOUND + 50), (response) => {
        const timer = setInterval(() => response.write(TOKEN), 20);
        response.on('close', () => clearInterval(timer));
      }),
    );
    const client = open();
    await eventually(async () => JSON.stringify((await used(policy)) ?? '').includes(`"reserved":16`));
    client.leave();
    await eventually(() => outcomes.length === 1);
    const [row] = await gateway.books.ledger(1);
    expect(Number(row?.quantities['output'])).toBeGreaterThan(OUTPUT_BOUND);
  });

  it('ends a stream that exceeds the limit, and charges the tokens so far', async () => {
    const policy = await limitTokens(INPUT_BOUND + OUTPUT_BOUND + 20);
    gateway.provider.replyWith(
      events(TOKEN.repeat(OUTPUT_BOUND), (response) => {
        const timer = setInterval(() => response.write(TOKEN), 5);
        response.on('close', () => clearInterval(timer));
      }),
    );
    const client = open();
    await eventually(() => client.end === 'broken');
    expect(outcomes).toEqual(['usage_limit_exceeded']);
    const [row] = await gateway.books.ledger(1);
    expect(row).toMatchObject({ outcome: 'cancelled' });
    expect(Number(row?.quantities['output'])).toBeGreaterThan(OUTPUT_BOUND);
    expect(await used(policy)).toMatchObject({ reserved: 0 });
  });

  it('renews the lease of a stream that is silent', async () => {
    const policy = await limitTokens();
    let finish = (): void => undefined;
    gateway.provider.replyWith(events(TOKEN, (response) => (finish = () => void response.end(USAGE))));
    const client = open();
    const expiry = async (): Promise<number> => {
      const rows: readonly { readonly at: Date }[] = await gateway.app.dataSource.query(
        'SELECT expires_at AS at FROM usage_reservations WHERE NOT is_withdrawn',
      );
      return rows[0]?.at.getTime() ?? 0;
    };
    await eventually(async () => client.text.includes('tok') && (await expiry()) > 0);
    const first = await expiry();
    // Twice the margin, not the ten seconds that the call may take until its first byte.
    expect(first - gateway.app.clock.now().getTime()).toBeLessThanOrEqual(2_000);
    await eventually(async () => (await expiry()) > first);
    finish();
    await eventually(() => client.end === 'whole');
    expect(await rows(1)).toEqual([{ outcome: 'answered', source: 'provider', input: 7, output: 3 }]);
    expect(await used(policy)).toMatchObject({ current_usage: 10, reserved: 0 });
  });
});
