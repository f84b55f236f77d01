import { EventEmitter, once } from 'node:events';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { closedPort } from '../src/upstream/__fixtures__/loopback.js';
import { USAGE_STORE } from '../src/usage/usage-store.token.js';
import { StoreUnavailableError, type UsageStore } from '../src/usage/usage-store.types.js';
import { eventually } from './support/eventually.js';
import { inTurn, json, silence } from './support/fake-provider.js';
import { type ExportedSpan, type OtlpCollector, startOtlpCollector } from './support/otlp-collector.js';
import { requestLine } from './support/request-line.js';
import { BEDROCK_MODEL } from './support/rerank-gateway.js';
import { COST, REQUEST, scored, startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

const SERVER = 2;
const ERROR = 2;
/** Shorter than the timeout of a call. */
const LATE_MS = 20_000;

let collector: OtlpCollector;
let gateway: UsageGateway;
let store: UsageStore;
/** A port without a listener. */
let nowhere: string;
/** No session for its role can be created. */
let unsigned: string;
let traces = 0;

beforeAll(async () => {
  process.env['OTEL_BSP_SCHEDULE_DELAY'] = '10';
  collector = await startOtlpCollector();
  const sts = `http://127.0.0.1:${await closedPort()}`;
  gateway = await startUsageGateway({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, AWS_ENDPOINT_URL_STS: sts });
  store = gateway.app.app.get<UsageStore>(USAGE_STORE, { strict: false });
  nowhere = await gateway.virtualKey('cohere', { config: { base_url: `http://127.0.0.1:${await closedPort()}` } });
  const role = { aws_auth_type: 'assumedRole', aws_role_arn: 'arn:aws:iam::123456789012:role/reranker' };
  unsigned = await gateway.virtualKey('bedrock', { config: role });
});
beforeEach(() => gateway.reset());
afterAll(async () => {
  await gateway.close();
  await collector.close();
  delete process.env['OTEL_BSP_SCHEDULE_DELAY'];
});

interface Records {
  readonly status: number | undefined;
  /** The calls that the metrics gained, by provider and code. */
  readonly counted: Readonly<Record<string, number>>;
  /** Calls with a measured duration. */
  readonly timed: number;
  /** The sum of their durations in seconds. */
  readonly seconds: number;
  readonly spans: readonly ExportedSpan[];
  readonly line: Readonly<Record<string, unknown>>;
}

interface Series {
  readonly counts: ReadonlyMap<string, number>;
  readonly timed: number;
  readonly seconds: number;
}

async function upstreamSeries(): Promise<Series> {
  const { text } = await gateway.admin.get('/metrics');
  const values = (pattern: RegExp): readonly (readonly [string, number])[] =>
    [...text.matchAll(pattern)].map(([, labels = '', value]) => [labels, Number(value)] as const);
  const sum = (pattern: RegExp): number => values(pattern).reduce((total, [, value]) => total + value, 0);
  return {
    counts: new Map(values(/^gateway_upstream_requests_total\{(.*)\} (\S+)$/gm)),
    timed: sum(/^gateway_upstream_duration_seconds_count\{(.*)\} (\S+)$/gm),
    seconds: sum(/^gateway_upstream_duration_seconds_sum\{(.*)\} (\S+)$/gm),
  };
}

/** The metrics, spans and log line of one call after its end. */
async function recordsOf(virtualKey: string, body: object, signal?: AbortSignal): Promise<Records> {
  const before = await upstreamSeries();
  const trace = `records-${(traces += 1)}`;
  const answer = await gateway
    .rerank(virtualKey, body, { headers: { 'x-gateway-trace-id': trace }, ...(signal && { signal }) })
    .catch(() => undefined);
  const line = await requestLine(gateway.app, trace);
  const ofTrace = (): readonly ExportedSpan[] =>
    collector.spans.filter(({ traceId }) => traceId === line['w3c_trace_id']);
  await eventually(() => ofTrace().some(({ kind }) => kind === SERVER));
  expect(await gateway.books.faults()).toEqual([]);
  const after = await upstreamSeries();
  const gained = [...after.counts].map(
    ([labels, count]) => [labels, count - (before.counts.get(labels) ?? 0)] as const,
  );
  return {
    status: answer?.status,
    counted: Object.fromEntries(gained.filter(([, count]) => count > 0)),
    timed: after.timed - before.timed,
    seconds: after.seconds - before.seconds,
    spans: ofTrace().filter(({ kind }) => kind !== SERVER),
    line,
  };
}

function expectNoCall({ counted, timed, spans, line }: Records): void {
  expect({ counted, timed, spans }).toEqual({ counted: {}, timed: 0, spans: [] });
  expect(Object.keys(line).filter((field) => field.startsWith('upstream_'))).toEqual([]);
  expect(gateway.provider.calls).toEqual([]);
}

interface Held {
  /** Resolves when the reservation waits. */
  readonly reached: Promise<void>;
  readonly release: () => void;
}

function holdReservation(): Held {
  const reserve = store.reserve.bind(store);
  const hold = new EventEmitter();
  const released = once(hold, 'release');
  const reached = once(hold, 'reached');
  jest.spyOn(store, 'reserve').mockImplementationOnce(async (reservation) => {
    hold.emit('reached');
    await released;
    return reserve(reservation);
  });
  return { reached: reached.then(() => undefined), release: () => void hold.emit('release') };
}

describe('calls that the gateway refuses before it sends them', () => {
  const refusals: readonly (readonly [string, number, string, () => Promise<Records>])[] = [
    [
      'a usage limit is used up',
      412,
      'usage_limit_exceeded',
      async () => {
        await gateway.limit({ credit_limit: COST / 2 });
        return recordsOf(gateway.cohere, REQUEST);
      },
    ],
    [
      'its model has no price',
      412,
      'price_unknown',
      async () => {
        await gateway.limit({ credit_limit: 1 });
        return recordsOf(gateway.cohere, { ...REQUEST, model: 'rerank-unheard-of' });
      },
    ],
    [
      'the database is away',
      503,
      'store_unavailable',
      async () => {
        await gateway.limit({ credit_limit: 1 });
        jest.spyOn(store, 'reserve').mockRejectedValueOnce(new StoreUnavailableError());
        return recordsOf(gateway.cohere, REQUEST);
      },
    ],
    ['it cannot be signed', 502, 'secret_unavailable', () => recordsOf(unsigned, { ...REQUEST, model: BEDROCK_MODEL })],
  ];

  it.each(refusals)('records no provider call for a refused call: %s', async (_why, status, code, refused) => {
    const records = await refused();
    expect(records.status).toBe(status);
    expectNoCall(records);
    expect(records.line).toMatchObject({ status, error_code: code });
  });

  it('records no provider call when the client disconnects before admission', async () => {
    await gateway.limit({ credit_limit: 1 });
    const { reached, release } = holdReservation();
    const leaving = new AbortController();
    const records = recordsOf(gateway.cohere, REQUEST, leaving.signal);
    await reached;
    leaving.abort();
    await eventually(() => gateway.app.log().includes(`"trace_id":"records-${traces}"`));
    release();
    expectNoCall(await records);
    expect((await records).line).toMatchObject({ status: 499 });
    expect(await gateway.books.ledger(0)).toEqual([]);
  });
});

describe('calls that the gateway sends', () => {
  it.each([
    ['answered', json({ ...REQUEST, results: [] }), 1, '200'],
    ['answered after a failure', inTurn(json({}, 503), scored()), 2, '200'],
    ['refused by the provider', json({ message: 'no' }, 422), 1, '422'],
    ['failed for good', json({}, 503), 3, '503'],
  ])('counts, times and traces a sent call once: %s', async (_what, reply, attempts, code) => {
    await gateway.limit({ credit_limit: 1 });
    gateway.provider.replyWith(reply);
    const { counted, timed, spans, line } = await recordsOf(gateway.cohere, REQUEST);
    expect({ counted, timed }).toEqual({ counted: { [`provider="cohere",code="${code}"`]: 1 }, timed: 1 });
    expect(spans).toMatchObject([{ status: code === '200' ? 0 : ERROR }]);
    expect(line).toMatchObject({
      upstream_attempts: attempts,
      upstream_status: Number(code),
      upstream_ms: expect.any(Number),
    });
    expect(new Set(gateway.provider.calls.map(({ headers }) => headers['traceparent']))).toEqual(
      new Set([`00-${String(line['w3c_trace_id'])}-${spans[0]?.spanId}-01`]),
    );
  });

  it('counts a call once when the provider refuses connections', async () => {
    const { counted, timed, spans, line } = await recordsOf(nowhere, REQUEST);
    expect({ counted, timed }).toEqual({ counted: { 'provider="cohere",code="provider_failed"': 1 }, timed: 1 });
    expect(spans).toMatchObject([{ status: ERROR, attributes: { 'error.type': 'provider_failed' } }]);
    expect(line).toMatchObject({ upstream_attempts: 3, upstream_ms: expect.any(Number) });
  });

  it('counts a call once when the client disconnects', async () => {
    gateway.provider.replyWith(silence);
    const leaving = new AbortController();
    const records = recordsOf(gateway.cohere, REQUEST, leaving.signal);
    await eventually(() => gateway.provider.calls.length === 1);
    leaving.abort();
    const { counted, timed, line } = await records;
    expect({ counted, timed }).toEqual({ counted: { 'provider="cohere",code="caller_gone"': 1 }, timed: 1 });
    expect(line).toMatchObject({ status: 499, upstream_attempts: 1 });
  });

  it('measures the duration of a call from its admission', async () => {
    await gateway.limit({ credit_limit: 1 });
    const { reached, release } = holdReservation();
    const records = recordsOf(gateway.cohere, REQUEST);
    await reached;
    const now = performance.now.bind(performance);
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => now() + LATE_MS);
    try {
      release();
      const { counted, seconds, spans, line } = await records;
      expect(counted).toEqual({ 'provider="cohere",code="200"': 1 });
      expect(seconds).toBeLessThan(LATE_MS / 1_000);
      expect(line['upstream_ms']).toBeLessThan(LATE_MS);
      expect(line['duration_ms']).toBeGreaterThanOrEqual(LATE_MS);
      expect(spans[0]?.durationMs).toBeLessThan(LATE_MS);
    } finally {
      clock.mockRestore();
    }
  });
});
