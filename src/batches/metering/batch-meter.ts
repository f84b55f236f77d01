// Batches of OpenAI's API. Source: https://platform.openai.com/docs/api-reference/batch, read 2026-11-28.
import { Injectable } from '@nestjs/common';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { type JsonObject, numberOrUndefined, stringOrUndefined } from '../../common/json/read.js';
import { Clock } from '../../common/time/clock.js';
import {
  type DeferredMeter,
  DeferredMeters,
  type DoneCalls,
  type JobName,
  type JobPlan,
  type JobRequest,
} from '../../gateway/deferred/deferred-meter.js';
import {
  accountFile,
  ProviderFiles,
  ResultsMissingError,
  unreadableReason,
} from '../../gateway/deferred/provider-files.js';
import { JobReader } from '../../gateway/deferred/job-reader.js';
import { MeteredJobs } from '../../gateway/deferred/metered-jobs.js';
import type { ProviderContext } from '../../gateway/provider-context.decorator.js';
import { usedIds } from '../../gateway/relay/object-ids.js';
import { OfferedEndpoints } from '../../upstream/providers/offered-endpoints.js';
import { BATCHES, modeOfEndpoint } from '../../usage/prices/price.types.js';
import { BATCH_PROVIDERS } from '../batch-providers.js';
import { BatchPlan } from './batch-plan.js';
import { BatchUsage, completedIn, madeNoCall, usageOfBatch } from './batch-usage.js';

export const ENDPOINT = BATCHES;
export const FILE = 'input_file_id';
/** The caller waits for it. */
export const MAX_PLAN_MS = 60_000;
export const MAX_RESULT_MS = 300_000;
/** Results that are not there by then, after the end of their batch, were deleted. */
const MISSING_MS = 600_000;
const MISSING: ReadonlySet<number | undefined> = new Set([404, 410]);
const ENDS = ['completed_at', 'expired_at', 'cancelled_at', 'failed_at'] as const;
const OVER: ReadonlySet<unknown> = new Set(['completed', 'failed', 'expired', 'cancelled']);
const WINDOW = /^(\d{1,3})([hd])$/;
const HOUR_MS = 3_600_000;
const DAY_HOURS = 24;
/** Results may come after the window of their batch has ended. */
const MARGIN_MS = 2 * HOUR_MS;

/** Meters the batches of providers that speak OpenAI's API. */
@Injectable()
export class BatchMeter implements DeferredMeter {
  readonly endpoint = ENDPOINT;
  readonly operations = ['batches.create'];
  readonly kind = 'batch';
  readonly mode = modeOfEndpoint(ENDPOINT);
  readonly #jobs: MeteredJobs;

  constructor(
    private readonly files: ProviderFiles,
    reader: JobReader,
    meters: DeferredMeters,
    offered: OfferedEndpoints,
    private readonly clock: Clock,
  ) {
    meters.add(this);
    this.#jobs = new MeteredJobs(
      reader,
      offered,
      { endpoint: ENDPOINT, path: '/batches', area: 'batches' },
      BATCH_PROVIDERS,
    );
  }

  /** Others keep the lines of a batch in the customer's own storage. */
  isMeteredAt(provider: string): boolean {
    return this.#jobs.areMeteredAt(provider);
  }

  async planOf(context: ProviderContext, { body }: JobRequest): Promise<JobPlan> {
    const plan = new BatchPlan(context, stringOrUndefined(body['endpoint']));
    const named = new Set(usedIds(body, FILE));
    const [fileId] = named;
    if (fileId === undefined || named.size > 1) {
      plan.leaveOpen('it must name one file');
      return plan.plan;
    }
    try {
      await this.files.eachLine(context, accountFile(context, fileId), MAX_PLAN_MS, (line, number) =>
        plan.addLine(line, number),
      );
    } catch (error) {
      plan.leaveOpen(unreadableReason(error));
    }
    return plan.plan;
  }

  traitsOf({ body }: JobRequest): JsonObject {
    return { [FILE]: body[FILE] };
  }

  lifetimeMs(body: JsonObject): number {
    return batchLifetimeMs(body);
  }

  idOf({ id }: JsonObject): string | undefined {
    return stringOrUndefined(id);
  }

  async read(context: ProviderContext, { upstreamId }: JobName): Promise<readonly JsonObject[]> {
    return this.#jobs.read(context, upstreamId);
  }

  isOver(batch: JsonObject): boolean {
    return isBatchOver(batch);
  }

  async usageOf(
    context: ProviderContext,
    batch: JsonObject,
    isSumEnough: (model: string | undefined) => Promise<boolean>,
  ): Promise<readonly DoneCalls[] | undefined> {
    const sum = usageOfBatch(batch);
    const model = stringOrUndefined(batch['model']);
    if (sum !== undefined && (await isSumEnough(model))) return [{ model, calls: [sum] }];
    const fileId = batch['output_file_id'];
    if (typeof fileId !== 'string') return madeNoCall(batch) ? [] : undefined;
    const usage = new BatchUsage();
    try {
      await this.files.eachLine(context, accountFile(context, fileId), MAX_RESULT_MS, (line) => usage.addLine(line));
    } catch (error) {
      if (!this.isMissing(error, batch)) throw error;
      if (madeNoCall(batch)) return [];
      throw new ResultsMissingError({ cause: error });
    }
    return usage.done(completedIn(batch));
  }

  /** Whether the results of a batch are missing although there was time to write them. */
  private isMissing(error: unknown, batch: JsonObject): boolean {
    if (!(error instanceof GatewayError) || !MISSING.has(error.provider?.status)) return false;
    // A server that names no end may still write them, until the time of the batch is up.
    const ends = ENDS.flatMap((field) => numberOrUndefined(batch[field]) ?? []);
    return ends.length > 0 && Math.max(...ends) * 1_000 + MISSING_MS < this.clock.now().getTime();
  }
}

export function batchLifetimeMs({ completion_window: window }: JsonObject): number {
  const [, count = DAY_HOURS, unit] = WINDOW.exec(stringOrUndefined(window) ?? '') ?? [];
  return Number(count) * (unit === 'd' ? DAY_HOURS : 1) * HOUR_MS + MARGIN_MS;
}

export function isBatchOver({ status }: JsonObject): boolean {
  return OVER.has(status);
}
