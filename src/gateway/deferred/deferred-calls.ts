import { Inject, Injectable } from '@nestjs/common';
import { describeDefect } from '../../common/errors/describe-error.js';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { isObject, type JsonObject } from '../../common/json/read.js';
import { Clock } from '../../common/time/clock.js';
import { uuidv7 } from '../../common/uuid.js';
import { AppConfig } from '../../config/environment.js';
import { LOGGER, type Logger } from '../../telemetry/logger.js';
import { NO_RATE } from '../../usage/prices/price.types.js';
import { USAGE_STORE } from '../../usage/usage-store.token.js';
import type { Reservation, UsageStore } from '../../usage/usage-store.types.js';
import { NOTHING } from '../call-cost.js';
import type { ProviderContext } from '../provider-context.decorator.js';
import { Isolation } from '../relay/isolation.js';
import { isRecordable } from '../relay/object-ids.js';
import { dimensionsOf, factsOf } from '../usage-meter.js';
import { DeferredCall, type MadeJob, type RaisedPart } from './deferred-call.js';
import type { DeferredMeter, JobPlan, JobRequest } from './deferred-meter.js';
import { JobAdmission, type PlannedPart } from './job-admission.js';
import { figuresJson, figuresOf, type JobPart } from './provider-job.entity.js';
import { type MeteredJob, type NewJob, ProviderJobStore } from './provider-job.store.js';

const NO_PLAN: JobPlan = { parts: [] };

/** Reserves what a job may use before it starts, and stores the job until it is settled. */
@Injectable()
export class DeferredCalls {
  constructor(
    private readonly admission: JobAdmission,
    @Inject(USAGE_STORE) private readonly store: UsageStore,
    private readonly jobs: ProviderJobStore,
    private readonly isolation: Isolation,
    private readonly clock: Clock,
    private readonly config: AppConfig,
    @Inject(LOGGER) private readonly logger: Pick<Logger, 'warn'>,
  ) {}

  /**
   * Reserves and stores a new job. Call `succeeded` or `failed` once with the result.
   * @throws GatewayError `usage_limit_exceeded`, `usage_limit_contended`, `usage_not_bounded`, `price_unknown`,
   * `usage_limit_unreadable`, `store_unavailable`
   */
  async begin(context: ProviderContext, meter: DeferredMeter, request: JobRequest): Promise<DeferredCall> {
    const isPlanned = meter.chargesBound === true || (await this.admission.isLimited(context, meter));
    const plan = isPlanned ? await meter.planOf(context, request) : NO_PLAN;
    const at = this.clock.now();
    const parts = await this.admission.partsOf(context, meter, plan, at);
    const reserved = await this.admission.reserve(context, parts);
    const unlimited = parts.flatMap(({ reservation }) => (reserved.includes(reservation) ? [] : reservation));
    const job = this.jobOf(context, meter, request, parts, at);
    return new DeferredCall(meter, job, { job, reserved, unlimited, isRecorded: await this.record(job, reserved) });
  }

  /**
   * Like `begin`, for a request that continues a job: reserves what it may use in addition. Returns undefined when the
   * job is already charged.
   * @throws GatewayError as `begin`, and the error of reading the job
   */
  async resume(
    context: ProviderContext,
    meter: DeferredMeter,
    params: JobRequest['params'],
  ): Promise<DeferredCall | undefined> {
    const upstreamId = meter.idIn?.(params) ?? '';
    const job = await this.jobs.named(this.isolation.ownershipOf(context), meter.kind, upstreamId);
    if (job !== null && job.charges !== null) return undefined;
    let request: JobRequest = { params, body: {} };
    let raised: RaisedPart | undefined;
    if (await this.admission.isLimited(context, meter)) {
      const [body = {}] = await meter.read(context, { upstreamId, traits: {} });
      request = { params, body };
      if (job !== null) raised = await this.reserveMore(context, meter, request, job);
    }
    return job === null ? this.begin(context, meter, request) : new DeferredCall(meter, job, undefined, raised);
  }

  /** Call it when an event names the job before the answer has ended. */
  named(call: DeferredCall, object: JsonObject): void {
    call.named ??= this.succeeded(call, object);
  }

  /** Call it when the provider's answer shows that the job exists. Never rejects. */
  async succeeded({ meter, made }: DeferredCall, answer: unknown): Promise<void> {
    if (made === undefined) return;
    const { job } = made;
    const id = isObject(answer) ? meter.idOf(answer) : undefined;
    try {
      if (id === undefined || !isRecordable(id)) return await this.extend(made);
      const isOwn = await this.jobs.identify(job.id, id, this.inFuture(this.config.PROVIDER_JOB_CHECK_MS));
      await (isOwn ? this.extend(made) : this.drop(made));
    } catch (error) {
      this.warn(job, error, id);
    }
  }

  /**
   * Call it when the request failed. Never rejects.
   * @param error that the client gets
   */
  async failed({ result, job, made, raised }: DeferredCall, error: unknown): Promise<void> {
    const isFree = result === 'free' || (result === 'answered' && isProvidersError(error));
    try {
      if (made === undefined) {
        if (raised !== undefined && (isFree || result === 'nothing_sent')) await this.undoRaise(job, raised);
      } else if (result === 'nothing_sent') await this.drop(made);
      else if (isFree) await this.settleFree(made);
      else await this.extend(made);
    } catch (defect) {
      this.warn(job, defect);
    }
  }

  /** Reserves more for the only part of a job that a client continues. */
  private async reserveMore(
    context: ProviderContext,
    meter: DeferredMeter,
    request: JobRequest,
    job: MeteredJob,
  ): Promise<RaisedPart | undefined> {
    const [before] = job.parts;
    if (before === undefined) return undefined;
    const plan = before.isReserved ? await meter.stepOf?.(context, request) : await meter.planOf(context, request);
    if (plan === undefined) return undefined;
    const [planned] = await this.admission.partsOf(context, meter, plan, job.at);
    if (planned === undefined) return undefined;
    const after = before.isReserved
      ? await this.admission.raise(context, job, before, planned)
      : await this.reserveWhole(context, job, before, planned);
    if (await this.jobs.changeParts(job, [after])) return { before, after };
    // Another request has changed the job meanwhile, and may use as much in addition. Or the job is charged by now.
    const now = await this.jobs.get(job.id);
    return now === null || now.charges !== null ? undefined : this.reserveMore(context, meter, request, now);
  }

  /** Reserves the whole of a job that started without a limit. */
  private async reserveWhole(
    context: ProviderContext,
    { endsAt }: MeteredJob,
    { id }: JobPart,
    planned: PlannedPart,
  ): Promise<JobPart> {
    const leaseMs = Math.max(endsAt.getTime() - this.clock.now().getTime(), 0);
    const own = { ...planned, reservation: { ...planned.reservation, id, leaseMs } };
    await this.admission.reserve(context, [own]);
    return partOf(own);
  }

  /**
   * Undoes a raise when the provider refused to continue the job. If another request has raised it meanwhile,
   * everything stays reserved until the job ends.
   */
  private async undoRaise(job: MeteredJob, { before, after }: RaisedPart): Promise<void> {
    if (!(await this.jobs.changeParts({ id: job.id, parts: [after] }, [before]))) return;
    if (before.isReserved)
      await this.store.retract({ id: before.id, bound: figuresOf(after.bound), to: figuresOf(before.bound) });
    else await this.store.release(before.id, job.at);
  }

  private jobOf(
    context: ProviderContext,
    meter: DeferredMeter,
    request: JobRequest,
    parts: readonly PlannedPart[],
    at: Date,
  ): NewJob {
    const { organisationId, provider, server } = this.isolation.ownershipOf(context);
    const dimensions = dimensionsOf(context, factsOf(context, { endpoint: meter.endpoint, model: undefined }));
    return {
      id: uuidv7(at),
      organisationId,
      kind: meter.kind,
      virtualKeyId: context.virtualKey.id,
      provider,
      server,
      account: context.account ?? {},
      traits: meter.traitsOf(request),
      dimensions,
      parts: parts.map(partOf),
      at,
      endsAt: new Date(at.getTime() + meter.lifetimeMs(request.body)),
      // By then, the provider has answered the request that creates the job.
      nextCheckAt: new Date(
        at.getTime() + Math.max(this.admission.leaseMs(context), this.config.PROVIDER_JOB_CHECK_MS),
      ),
    };
  }

  /**
   * Stores a job; returns false when the database is unreachable. Under a limit, a job that is not stored must not
   * start.
   * @throws GatewayError `store_unavailable` under a limit
   */
  private async record(job: NewJob, reserved: readonly Reservation[]): Promise<boolean> {
    try {
      await this.jobs.add(job);
      return true;
    } catch (cause) {
      this.warn(job, cause);
      if (reserved.length === 0) return false;
      await this.admission.release(reserved);
      throw new GatewayError('store_unavailable', { cause, reason: 'database' });
    }
  }

  /** For a job that exists or may exist: keeps its reservations for its longest possible duration. */
  private async extend({ job, reserved }: MadeJob): Promise<void> {
    for (const { id } of reserved) await this.store.prolong(id, job.endsAt);
  }

  /** Releases the reservations of a call that started no job. */
  private async drop({ job, reserved, isRecorded }: MadeJob): Promise<void> {
    await this.admission.release(reserved);
    if (isRecorded) await this.jobs.remove(job.id);
  }

  private async settleFree({ job, reserved, unlimited, isRecorded }: MadeJob): Promise<void> {
    const settled = {
      figures: NOTHING,
      rate: NO_RATE,
      source: 'computed',
      outcome: 'failed',
      firstTokenMs: null,
    } as const;
    for (const reservation of reserved) await this.store.settle({ reservation, ...settled });
    for (const { id, at, dimensions } of unlimited) this.store.record({ id, at, dimensions, ...settled });
    if (isRecorded) await this.jobs.remove(job.id);
  }

  private inFuture(ms: number): Date {
    return new Date(this.clock.now().getTime() + ms);
  }

  private warn({ id, kind, provider }: MeteredJob, error: unknown, upstreamId?: string): void {
    const event = 'provider_job_not_recorded';
    this.logger.warn({ event, job_id: id, kind, provider, upstream_id: upstreamId, error: describeDefect(error) });
  }
}

function partOf({ reservation, model, soldAs, isBounded }: PlannedPart): JobPart {
  const { id, charges, bound, rate } = reservation;
  return { id, model, soldAs, isReserved: charges.length > 0, bound: { ...figuresJson(bound), rate }, isBounded };
}

/** Whether a 2xx answer holds an error, so that no job was created. */
function isProvidersError(error: unknown): boolean {
  return error instanceof GatewayError && error.source === 'provider' && error.code !== 'provider_invalid_response';
}
