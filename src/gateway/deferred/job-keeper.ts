import { type BeforeApplicationShutdown, Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import type { Principal } from '../../access/principal.js';
import { describeDefect } from '../../common/errors/describe-error.js';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { NEVER_ABORTED } from '../../common/http/client-connection.js';
import { isObject, type JsonObject, numberOrUndefined } from '../../common/json/read.js';
import { RunningCalls } from '../../common/running-calls.js';
import { Clock } from '../../common/time/clock.js';
import { WakeableLoop } from '../../common/time/wakeable-loop.js';
import { AppConfig } from '../../config/environment.js';
import { LOGGER, type Logger } from '../../telemetry/logger.js';
import { RequestContext } from '../../telemetry/request-context.js';
import { readTraceHeaders } from '../../telemetry/trace-headers.js';
import { canonicalModel } from '../../usage/model-names.js';
import { USAGE_STORE } from '../../usage/usage-store.token.js';
import type { UsageStore } from '../../usage/usage-store.types.js';
import { VirtualKeyCache } from '../../virtual-keys/virtual-key.cache.js';
import { NO_ANSWER_HEAD } from '../answer-head.js';
import { ProviderCallService } from '../provider-call.service.js';
import type { ProviderContext } from '../provider-context.decorator.js';
import { Isolation } from '../relay/isolation.js';
import type { ProviderObjectKind } from '../relay/relay-route.js';
import type { DeferredCall } from './deferred-call.js';
import { type DeferredMeter, DeferredMeters } from './deferred-meter.js';
import { boundsOf, JobCharges } from './job-charges.js';
import { figuresOf, type PartCharge, type ProviderJob } from './provider-job.entity.js';
import { type JobOwner, ProviderJobStore } from './provider-job.store.js';

const MAX_RUNNING = 8;
/** Renewals of a claim per lease. A claim that expires was left by a gateway that died. */
const RENEWALS = 3;
/** The pause between two polls of a job, as a share of its age. */
const SHARE_OF_AGE = 0.05;
const MAX_PAUSE_MS = 600_000;
/** How much longer a running job is polled after its planned end, each time. */
const RENEWED_MS = 2 * 3_600_000;
const LONGEST_MS = 30 * 86_400_000;
/** How far a provider's clock may be behind. */
const CLOCK_SKEW_MS = 120_000;
const FORGET_AFTER_MS = 30 * 86_400_000;
const END_MS = 5_000;

/** Polls jobs until they are settled. All replicas run it; each job is claimed by one replica at a time. */
@Injectable()
export class JobKeeper implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly loop: WakeableLoop;
  private readonly running = new RunningCalls();
  private runningCount = 0;
  private isFailing = false;

  constructor(
    private readonly jobs: ProviderJobStore,
    private readonly meters: DeferredMeters,
    private readonly charges: JobCharges,
    private readonly calls: ProviderCallService,
    private readonly isolation: Isolation,
    private readonly virtualKeys: VirtualKeyCache,
    @Inject(USAGE_STORE) private readonly store: UsageStore,
    private readonly clock: Clock,
    private readonly config: AppConfig,
    @Inject(LOGGER) private readonly logger: Pick<Logger, 'warn' | 'error'>,
  ) {
    this.loop = new WakeableLoop(() => this.turn(), Math.min(config.PROVIDER_JOB_CHECK_MS, 5_000));
  }

  onApplicationBootstrap(): void {
    this.loop.wake();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.loop.stop();
    await this.running.idle(END_MS);
  }

  /** Settles finished jobs at once, when a client has read their objects. Never rejects. */
  async settleFinished(context: ProviderContext, kind: ProviderObjectKind, answer: unknown): Promise<void> {
    const meter = this.meters.ofKind(kind, context.virtualKey.provider.slug);
    if (meter === undefined) return;
    const over = objectsIn(answer).filter((object) => meter.isOver(object));
    const ids = over.flatMap((object) => meter.idOf(object) ?? []);
    if (ids.length === 0) return;
    try {
      const owner = {
        ...this.isolation.ownershipOf(context),
        virtualKeyId: context.virtualKey.id,
        account: context.account ?? {},
      };
      if (meter.showsUsage === true) await this.settleRead(context, meter, owner, over);
      else if ((await this.jobs.checkNow(owner, kind, ids, this.clock.now())) > 0) this.loop.wake();
    } catch (error) {
      this.logger.warn({ event: 'provider_job_not_hastened', kind, error: describeDefect(error) });
    }
  }

  /** Settles a job whose end a stream has shown. Never rejects. */
  async conclude({ meter, job: { id } }: DeferredCall, context: ProviderContext, object: JsonObject): Promise<void> {
    if (!meter.isOver(object)) return;
    this.running.begin();
    try {
      const job = await this.jobs.get(id);
      const isOther = job !== null && job.upstreamId !== null && job.upstreamId !== meter.idOf(object);
      if (job !== null && !isOther) await this.settleBy(job, meter, context, object);
    } catch (error) {
      this.warn(id, meter.kind, context.virtualKey.provider.slug, error);
    } finally {
      this.running.end();
    }
  }

  private async settleRead(
    context: ProviderContext,
    meter: DeferredMeter,
    owner: JobOwner,
    over: readonly JsonObject[],
  ): Promise<void> {
    const byId = new Map(over.map((object) => [meter.idOf(object) ?? '', object]));
    for (const job of await this.jobs.unsettled(owner, meter.kind, [...byId.keys()])) {
      const object = byId.get(job.upstreamId ?? '');
      if (object !== undefined) await this.settleBy(job, meter, context, object);
    }
  }

  private async settleBy(
    job: ProviderJob,
    meter: DeferredMeter,
    context: ProviderContext,
    object: JsonObject,
  ): Promise<void> {
    if (job.settledAt !== null) return;
    await this.decide(job, job.charges ?? (await this.charges.ofResult(job, meter, context, object)));
  }

  private async turn(): Promise<void> {
    try {
      const now = this.clock.now();
      const free = MAX_RUNNING - this.runningCount;
      const claimed = free > 0 ? await this.jobs.claim(now, this.claimEnd(), free) : [];
      for (const job of claimed) void this.poll(job);
      await this.jobs.forgetSettled(new Date(now.getTime() - FORGET_AFTER_MS));
      this.isFailing = false;
    } catch (error) {
      // Logged once per outage.
      if (!this.isFailing) this.logger.error({ event: 'provider_jobs_failed', error: describeDefect(error) });
      this.isFailing = true;
    }
  }

  /** Never rejects. */
  private async poll(job: ProviderJob): Promise<void> {
    this.running.begin();
    this.runningCount += 1;
    const renewal = setInterval(
      // When this fails, another replica may poll the job too. Settling it twice changes nothing.
      () => void this.jobs.renew(job, this.claimEnd()).catch(() => undefined),
      this.config.USAGE_LEASE_MARGIN_MS / RENEWALS,
    ).unref();
    try {
      await this.refresh(job);
    } catch (error) {
      this.warn(job.id, job.kind, job.provider, error);
      await this.putOff(job).catch(() => undefined);
    } finally {
      clearInterval(renewal);
      this.runningCount -= 1;
      this.running.end();
    }
    // Another job can be claimed now.
    this.loop.wake();
  }

  private claimEnd(): Date {
    return new Date(this.clock.now().getTime() + this.config.USAGE_LEASE_MARGIN_MS);
  }

  private async refresh(job: ProviderJob): Promise<void> {
    if (job.charges !== null) return this.settle(job, job.charges);
    const meter = this.meters.ofKind(job.kind, job.provider);
    if (meter === undefined) return this.putOff(job);
    // The end was never seen, and the provider may have done all of the work.
    if (job.endsAt < this.clock.now()) return this.decide(job, boundsOf(job, 'presumed', 'unknown'));
    const context = await this.contextOf(job);
    const object = await this.find(job, meter, context);
    if (object === undefined) return this.putOff(job);
    if (!meter.isOver(object)) return this.extend(job);
    await this.decide(job, await this.charges.ofResult(job, meter, context, object));
  }

  /** Reads the provider's object of a job; undefined when it is not known which object it is. */
  private async find(
    job: ProviderJob,
    meter: DeferredMeter,
    context: ProviderContext,
  ): Promise<JsonObject | undefined> {
    const objects = await meter.read(context, job);
    if (job.upstreamId !== null) return objects[0];
    const candidates = objects.filter((object) => isCandidate(job, object));
    const ids = candidates.flatMap((object) => meter.idOf(object) ?? []);
    const others = await this.jobs.known(job, ids);
    // Lists begin with the newest object; the oldest match is the likeliest.
    const found = candidates.findLast((object) => !others.has(meter.idOf(object) ?? ''));
    const id = found === undefined ? undefined : meter.idOf(found);
    if (id === undefined || !(await this.jobs.identify(job.id, id, this.clock.now()))) return undefined;
    return found;
  }

  private async decide(job: ProviderJob, charges: readonly PartCharge[]): Promise<void> {
    await this.settle(job, await this.jobs.decide(job, charges));
  }

  /** Idempotent: settling a part again changes nothing. */
  private async settle(job: ProviderJob, charges: readonly PartCharge[]): Promise<void> {
    const { at, provider, dimensions } = job;
    for (const charge of charges) {
      const { id, model, rate, source, outcome } = charge;
      const figures = figuresOf(charge);
      const named = { ...dimensions, model: model === null ? null : canonicalModel(provider, model) };
      const reservation = { id, at, leaseMs: 0, dimensions: named, bound: figures, rate, charges: [] };
      await this.store.settle({ reservation, figures, source, outcome, rate, firstTokenMs: null });
    }
    await this.jobs.close(job, this.clock.now());
  }

  /** Keeps the reservations of a running job. */
  private async extend(job: ProviderJob): Promise<void> {
    const now = this.clock.now().getTime();
    const endsAt = new Date(Math.max(job.endsAt.getTime(), now + RENEWED_MS));
    if (endsAt > job.endsAt && endsAt.getTime() < job.at.getTime() + LONGEST_MS) {
      // Only the time is extended, since a request may raise the bound concurrently.
      for (const { id, isReserved } of job.parts) if (isReserved) await this.store.prolong(id, endsAt);
      await this.jobs.prolong(job, endsAt);
    }
    await this.putOff(job);
  }

  private async putOff(job: ProviderJob): Promise<void> {
    const now = this.clock.now().getTime();
    const age = now - job.at.getTime();
    const pauseMs = Math.max(this.config.PROVIDER_JOB_CHECK_MS, Math.min(age * SHARE_OF_AGE, MAX_PAUSE_MS));
    await this.jobs.putOff(job, new Date(now + pauseMs));
  }

  private warn(id: string, kind: ProviderObjectKind, provider: string, error: unknown): void {
    const event = 'provider_job_not_read';
    const code = error instanceof GatewayError ? error.code : undefined;
    this.logger.warn({ event, job_id: id, kind, provider, code, error: describeDefect(error) });
  }

  /** @throws GatewayError `virtual_key_not_found`, `secret_unavailable` */
  private async contextOf({
    organisationId,
    virtualKeyId,
    account,
    dimensions,
  }: ProviderJob): Promise<ProviderContext> {
    const principal: Principal = {
      kind: 'api_key',
      id: dimensions.apiKeyId ?? '',
      organisationId,
      workspaceId: null,
      scopes: new Set(),
      user: null,
      enforcedMetadata: {},
      defaultMetadata: {},
      rateLimits: [],
      expiresAt: null,
    };
    const virtualKey = await this.virtualKeys.findById(principal, virtualKeyId, this.clock.now().getTime());
    if (virtualKey === undefined) throw new GatewayError('virtual_key_not_found');
    const request = new RequestContext(readTraceHeaders({}), NEVER_ABORTED);
    const context = { principal, virtualKey, modelNames: undefined, strict: false, bytes: undefined, request };
    return this.calls.withOneDeadline({ ...context, account, answer: NO_ANSWER_HEAD });
  }
}

/** Whether an object may be the one that an unanswered request created. */
function isCandidate({ traits, at }: ProviderJob, object: JsonObject): boolean {
  const createdAt = numberOrUndefined(object['created_at']);
  if (createdAt === undefined || createdAt * 1_000 < at.getTime() - CLOCK_SKEW_MS) return false;
  return Object.entries(traits).every(([name, value]) => object[name] === value);
}

/** A list has its objects in `data`. */
function objectsIn(answer: unknown): readonly JsonObject[] {
  if (!isObject(answer)) return [];
  const { data } = answer;
  return Array.isArray(data) ? data.filter(isObject) : [answer];
}
