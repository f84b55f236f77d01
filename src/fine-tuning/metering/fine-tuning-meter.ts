// Fine-tuning jobs of OpenAI's API. Source: https://platform.openai.com/docs/api-reference/fine-tuning, read 2026-11-28.
import { Injectable } from '@nestjs/common';
import { isNamed } from '../../common/json/field-names.js';
import { isObject, type JsonObject, numberOrUndefined, stringOrUndefined } from '../../common/json/read.js';
import {
  type DeferredMeter,
  DeferredMeters,
  type DoneCalls,
  type JobName,
  type JobPlan,
  type JobRequest,
} from '../../gateway/deferred/deferred-meter.js';
import { JobReader } from '../../gateway/deferred/job-reader.js';
import { MeteredJobs } from '../../gateway/deferred/metered-jobs.js';
import { accountFile, ProviderFiles } from '../../gateway/deferred/provider-files.js';
import type { ProviderContext } from '../../gateway/provider-context.decorator.js';
import { usedIds } from '../../gateway/relay/object-ids.js';
import { OfferedEndpoints } from '../../upstream/providers/offered-endpoints.js';
import { FINE_TUNING_PROVIDERS } from '../fine-tuning-providers.js';
import { ENDED_JOB_STATUSES } from '../fine-tuning.response.js';
import { ENDPOINT, EPOCHS, FILE, leftOpen, LIFETIME_MS, MAX_EPOCHS, planTraining } from './training-plan.js';

/** Billed by the token. Others are billed by time, or by the answers of a grader. */
const METHODS: ReadonlySet<unknown> = new Set([undefined, 'supervised', 'dpo']);
const OVER: ReadonlySet<unknown> = new Set(ENDED_JOB_STATUSES);

/** Meters the fine-tuning jobs of providers that speak OpenAI's API. */
@Injectable()
export class FineTuningMeter implements DeferredMeter {
  readonly endpoint = ENDPOINT;
  readonly operations = ['fine_tuning.jobs.create', 'fine_tuning.jobs.resume'];
  readonly kind = 'fine_tuning.job';
  readonly mode = 'standard';
  readonly #jobs: MeteredJobs;

  constructor(
    private readonly files: ProviderFiles,
    reader: JobReader,
    meters: DeferredMeters,
    offered: OfferedEndpoints,
  ) {
    meters.add(this);
    this.#jobs = new MeteredJobs(
      reader,
      offered,
      { endpoint: ENDPOINT, path: '/fine_tuning/jobs', area: 'fine_tuning.jobs' },
      FINE_TUNING_PROVIDERS,
    );
  }

  isMeteredAt(provider: string): boolean {
    return this.#jobs.areMeteredAt(provider);
  }

  async planOf(context: ProviderContext, { body }: JobRequest): Promise<JobPlan> {
    const model = stringOrUndefined(body['model']);
    if (model === undefined) return leftOpen('model', 'it must name a model');
    const { method } = body;
    if (!METHODS.has(isObject(method) ? method['type'] : method))
      return leftOpen('method', 'it is not billed by token');
    const epochs = epochsIn(body);
    if (epochs === undefined) return leftOpen(EPOCHS, `it must be a number, at most ${MAX_EPOCHS}`);
    const named = new Set(usedIds(body, FILE));
    const [fileId] = named;
    if (fileId === undefined || named.size > 1) return leftOpen(FILE, 'it must name one file');
    return planTraining(this.files, context, accountFile(context, fileId), { model, epochs });
  }

  traitsOf({ body }: JobRequest): JsonObject {
    return { [FILE]: body[FILE] };
  }

  lifetimeMs(): number {
    return LIFETIME_MS;
  }

  idOf({ id }: JsonObject): string | undefined {
    return stringOrUndefined(id);
  }

  idIn({ fine_tuning_job_id: id = '' }: JobRequest['params']): string {
    return id;
  }

  async read(context: ProviderContext, { upstreamId }: JobName): Promise<readonly JsonObject[]> {
    return this.#jobs.read(context, upstreamId);
  }

  isOver({ status }: JsonObject): boolean {
    return OVER.has(status);
  }

  async usageOf(_context: ProviderContext, job: JsonObject): Promise<readonly DoneCalls[] | undefined> {
    const model = stringOrUndefined(job['model']);
    const trained = numberOrUndefined(job['trained_tokens']);
    const isOpen = trained === undefined || trained === 0;
    if (!isOpen) return [{ model, calls: [{ training: trained }] }];
    // Some servers write a zero where they count nothing.
    return job['status'] === 'succeeded' ? undefined : [{ model, calls: [] }];
  }
}

/** The most that any field of this name says, wherever it is; undefined: the provider chooses. */
function epochsIn(body: JsonObject): number | undefined {
  const given = valuesOf(body, EPOCHS);
  const epochs = given.filter((value) => typeof value === 'number');
  const isKnown = epochs.length === given.length && epochs.every((count) => count >= 1 && count <= MAX_EPOCHS);
  return given.length > 0 && isKnown ? Math.max(...epochs) : undefined;
}

function valuesOf(body: unknown, name: string): readonly unknown[] {
  if (!isObject(body)) return [];
  return Object.entries(body).flatMap(([field, value]) => (isNamed(field, name) ? [value] : valuesOf(value, name)));
}
