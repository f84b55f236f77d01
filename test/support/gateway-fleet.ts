import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DataSource, IsNull } from 'typeorm';
import { readString } from '../../src/common/json/read.js';
import { ProviderJob } from '../../src/gateway/deferred/provider-job.entity.js';
import { openDataSource } from '../../src/usage/__fixtures__/postgres-harness.js';
import { UsageBucket } from '../../src/usage/usage-bucket.entity.js';
import { UsageEvent } from '../../src/usage/usage-event.entity.js';
import { UsageReservation } from '../../src/usage/usage-reservation.entity.js';
import { eventually } from './eventually.js';
import { faultyStream } from './faulty-streams.js';
import { type FakeProvider, type Reply, startFakeProvider } from './fake-provider.js';
import { GatewayClient } from './gateway-client.js';
import { GatewayProcess } from './gateway-process.js';
import { makeOwnDatabase, type OwnDatabase } from './own-database.js';
import { send } from './send.js';
import { ADMIN_KEY, ENCRYPTION_KEY } from './test-app.js';
import { REQUEST, scored } from './usage-gateway.js';

/** Of a call: with the margin of its lease, how long the calls of a gateway that died stay open. */
const TIMEOUT_MS = 3_000;
const LEASE_MARGIN_MS = 1_000;
/** After this time, every gateway has reloaded the policies. */
const POLICIES_KNOWN_MS = 6_000;
export const POLICIES = '/v1/policies/usage-limits';

const slowly: Reply = (response, call) => {
  if (call.path.endsWith('/chat/completions')) return faultyStream(response, call);
  setTimeout(() => scored()(response, call), 20 + Math.random() * 100);
};
/** Each step of the settlement of a job takes a while, so that kills come between them. */
const SLOW_STEPS = `
  CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.05 + random() / 5); RETURN NEW; END';
  CREATE TRIGGER wait BEFORE UPDATE OF charges, settled_at ON provider_jobs FOR EACH ROW EXECUTE FUNCTION wait();
  CREATE TRIGGER wait BEFORE DELETE ON usage_reservations FOR EACH STATEMENT EXECUTE FUNCTION wait()`;
/** A model route with two targets. */
const ROUTE = 'chats';
/** At most 24 tokens of output come. */
const CHAT = { model: ROUTE, max_tokens: 60, stream: true, messages: [{ role: 'user', content: 'Hello' }] };

interface Member {
  readonly process: GatewayProcess;
  readonly url: string;
}

interface CallOptions {
  /** The number of the gateway to call; by default, any. */
  readonly from?: number;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** The calls that reached the provider, compared with the ledger. Calls are named by their trace ids. */
export interface Reckoning {
  readonly reached: readonly string[];
  /** Of one call. */
  readonly mostAttempts: number;
  /** Calls whose attempts at the provider are not in the ledger once each. */
  readonly miscounted: readonly string[];
  /** Calls that the ledger has as settled but that did not reach the provider. */
  readonly invented: readonly string[];
  /** Calls that the ledger has as presumed but that did not reach the provider. */
  readonly unsent: readonly string[];
}

/** Built gateways as separate processes, on one new database, with one provider. */
export class GatewayFleet {
  private known: ReadonlySet<string> = new Set();

  private constructor(
    readonly books: DataSource,
    readonly provider: FakeProvider,
    private readonly database: OwnDatabase,
    private readonly folder: string,
    private readonly start: () => Promise<Member>,
    private readonly members: Member[],
    private readonly virtualKey: string,
  ) {}

  /** @param server PostgreSQL server on which the fleet creates its own database */
  static async start(size: number, server: string, more: Readonly<Record<string, string>> = {}): Promise<GatewayFleet> {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-usage-'));
    const [database, provider] = await Promise.all([makeOwnDatabase(server), startFakeProvider()]);
    const settings = {
      DATABASE_URL: database.url,
      TOLLGATE_ENCRYPTION_KEY: ENCRYPTION_KEY,
      TOLLGATE_ADMIN_KEY: ADMIN_KEY,
      EGRESS_ALLOW: '127.0.0.1',
      PROVIDER_TIMEOUT_MS: String(TIMEOUT_MS),
      USAGE_LEASE_MARGIN_MS: String(LEASE_MARGIN_MS),
      LOG_LEVEL: 'error',
      ...more,
    };
    const start = async (): Promise<Member> => {
      const process = new GatewayProcess(settings, folder);
      return { process, url: await process.url() };
    };
    const first = await start();
    const members = [first, ...(await Promise.all(Array.from({ length: size - 1 }, start)))];
    const books = await openDataSource(database.url);
    const config = { base_url: provider.url };
    const key = { name: 'cohere', provider: 'cohere', key: 'provider-key', config };
    const admin = new GatewayClient(first.url);
    const { slug } = await admin.create('/v1/virtual-keys', key);
    const targets = ['chats 1', 'chats 2'].map(async (name, order) => {
      const chats = await admin.create('/v1/virtual-keys', { ...key, name, provider: 'openai-compatible' });
      return { virtual_key: readString(chats['slug'], 'slug'), model: 'm', order };
    });
    await admin.create('/v1/model-routes', { name: ROUTE, targets: await Promise.all(targets) });
    provider.replyWith(slowly);
    return new GatewayFleet(books, provider, database, folder, start, members, readString(slug, 'slug'));
  }

  client(number = 0): GatewayClient {
    return new GatewayClient(this.members[number]?.url ?? '');
  }

  /** The status of a call; 0 when the gateway died. */
  async call(traceId: string, { from = this.anyone(), metadata = {} }: CallOptions = {}): Promise<number> {
    const headers = {
      'content-type': 'application/json',
      'x-gateway-api-key': ADMIN_KEY,
      'x-gateway-virtual-key': this.virtualKey,
      'x-gateway-trace-id': traceId,
      'x-gateway-metadata': JSON.stringify(metadata),
    };
    const url = `${this.members[from]?.url}/v1/rerank`;
    return send(url, { body: JSON.stringify(REQUEST), headers }).then(
      ({ status }) => status,
      () => 0,
    );
  }

  /** The status of a streamed chat, whose client may leave in the middle; 0 when there was no answer. */
  async stream(traceId: string, leavesAfterMs: number): Promise<number> {
    const headers = {
      'content-type': 'application/json',
      'x-gateway-api-key': ADMIN_KEY,
      'x-gateway-trace-id': traceId,
    };
    const signal = AbortSignal.timeout(Math.ceil(leavesAfterMs));
    const url = `${this.members[this.anyone()]?.url}/v1/chat/completions`;
    let status = 0;
    try {
      const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(CHAT), signal });
      status = answer.status;
      await answer.text();
    } catch {
      // The client has left, or the gateway died.
    }
    return status;
  }

  /** How far each enforced limit is exceeded at this moment, in its own unit; empty where none is. */
  async overshoots(): Promise<readonly bigint[]> {
    const buckets = await this.books.getRepository(UsageBucket).find();
    const overs = buckets.map(
      ({ used, reserved, creditLimit }) => BigInt(used) + BigInt(reserved) - BigInt(creditLimit),
    );
    return overs.filter((over) => over > 0n);
  }

  /** Creates a policy for all calls, waits until every gateway applies it, and returns its id. */
  async limit(fields: object): Promise<string> {
    const policy = { conditions: [{ key: 'endpoint', value: 'rerank' }], type: 'cost', ...fields };
    const { id } = await this.client().create(POLICIES, policy);
    await new Promise((resolve) => setTimeout(resolve, POLICIES_KNOWN_MS));
    await Promise.all(this.members.map((_member, from) => this.call(randomUUID(), { from })));
    await new Promise((resolve) => setTimeout(resolve, 500));
    return readString(id, 'id');
  }

  /** Kills a gateway without warning, by default any, and starts another one. */
  async killOne(victim = this.anyone()): Promise<void> {
    await this.members[victim]?.process.kill();
    this.members[victim] = await this.start();
  }

  /** Kills every gateway at random, while jobs are settled slowly, and waits until all of them are settled. */
  async killWhileJobsAreSettled(): Promise<void> {
    const kills: Promise<void>[] = [];
    for (const victim of this.members.keys()) {
      await new Promise((resolve) => setTimeout(resolve, 100 + Math.random() * 400));
      kills.push(this.killOne(victim));
    }
    await Promise.all(kills);
    const jobs = this.books.getRepository(ProviderJob);
    await eventually(async () => (await jobs.countBy({ settledAt: IsNull() })) === 0, 30_000);
  }

  slowDownSettlements(): Promise<unknown> {
    return this.books.query(SLOW_STEPS);
  }

  /** Waits until no call is in flight or presumed. Returns the buckets that still hold a reservation. */
  async atRest(): Promise<readonly UsageBucket[]> {
    await eventually(
      async () => (await this.books.getRepository(UsageReservation).countBy({ isWithdrawn: false })) === 0,
      60_000,
    );
    const buckets = await this.books.getRepository(UsageBucket).find();
    return buckets.filter(({ reserved }) => reserved !== '0');
  }

  /** Ignores all earlier calls. */
  async forget(): Promise<void> {
    this.provider.forget();
    this.known = new Set((await this.books.getRepository(UsageEvent).find()).map(({ id }) => id));
  }

  async reckon(): Promise<Reckoning> {
    const rows = (await this.books.getRepository(UsageEvent).find()).filter(({ id }) => !this.known.has(id));
    const reached = this.provider.calls.map(({ headers }) => String(headers['traceparent']).split('-')[1] ?? '');
    const arrivals = countsOf(reached);
    const traces = rows.map(({ traceId, source }) => ({
      trace: traceId.replaceAll('-', ''),
      isPresumed: source === 'presumed',
    }));
    const rowsOf = countsOf(traces.map(({ trace }) => trace));
    const sureOf = countsOf(traces.filter(({ isPresumed }) => !isPresumed).map(({ trace }) => trace));
    const absent = traces.filter(({ trace }) => !arrivals.has(trace));
    const absentAs = (wanted: boolean): readonly string[] =>
      absent.filter(({ isPresumed }) => isPresumed === wanted).map(({ trace }) => trace);
    return {
      reached,
      mostAttempts: Math.max(...arrivals.values()),
      // An attempt whose gateway was killed before it was sent is presumed.
      miscounted: [...arrivals].flatMap(([trace, attempts]) =>
        (rowsOf.get(trace) ?? 0) < attempts || (sureOf.get(trace) ?? 0) > attempts ? [trace] : [],
      ),
      invented: absentAs(false),
      unsent: absentAs(true),
    };
  }

  async close(): Promise<void> {
    await Promise.all(this.members.map(({ process }) => process.kill()));
    await Promise.all([this.books.destroy(), this.provider.close()]);
    await this.database.drop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private anyone(): number {
    return Math.floor(Math.random() * this.members.length);
  }
}

function countsOf(names: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
