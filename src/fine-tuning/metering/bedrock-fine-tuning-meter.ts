// Fine-tuning jobs of Bedrock, which never says how many tokens it has trained on. Source: https://aws.amazon.com/bedrock/pricing/, read 2026-11-29.
import { Injectable } from '@nestjs/common';
import { type JsonObject, readObject, stringOrUndefined } from '../../common/json/read.js';
import {
  type DeferredMeter,
  DeferredMeters,
  type DoneCalls,
  type JobName,
  type JobPlan,
  type JobRequest,
} from '../../gateway/deferred/deferred-meter.js';
import { JobReader } from '../../gateway/deferred/job-reader.js';
import { MappedJobs } from '../../gateway/deferred/mapped-jobs.js';
import { ProviderFiles } from '../../gateway/deferred/provider-files.js';
import type { ProviderContext } from '../../gateway/provider-context.decorator.js';
import { regionOfModel } from '../../upstream/providers/bedrock/job-fields.js';
import { readableS3File, s3Address, toFileId } from '../../upstream/providers/bedrock/s3-file.js';
import { OfferedEndpoints } from '../../upstream/providers/offered-endpoints.js';
import { ENDED_JOB_STATUSES } from '../fine-tuning.response.js';
import { bedrockFineTuning } from '../providers/bedrock-fine-tuning.js';
import { CUSTOMIZATION_JOB } from '../providers/bedrock-fine-tuning-job.js';
import { toCustomizationJob } from '../providers/bedrock-fine-tuning-request.js';
import { ENDPOINT, EPOCHS, FILE, leftOpen, LIFETIME_MS, MAX_EPOCHS, planTraining } from './training-plan.js';

/** Looked through for a job whose create was not answered. A list does not name the files, so each is read by itself. */
const NEWEST = 20;
const OVER: ReadonlySet<unknown> = new Set(ENDED_JOB_STATUSES);

/** Meters the fine-tuning jobs of Bedrock by the training file in S3 that the credential of the virtual key can read. */
@Injectable()
export class BedrockFineTuningMeter implements DeferredMeter {
  readonly endpoint = ENDPOINT;
  readonly operations = ['fine_tuning.jobs.create'];
  readonly kind = 'fine_tuning.job';
  readonly mode = 'standard';
  readonly chargesBound = true;
  readonly #jobs: MappedJobs;

  constructor(
    private readonly files: ProviderFiles,
    reader: JobReader,
    meters: DeferredMeters,
    offered: OfferedEndpoints,
  ) {
    meters.add(this);
    const place = { endpoint: ENDPOINT, area: 'fine_tuning.jobs', idParam: CUSTOMIZATION_JOB.idParam };
    this.#jobs = new MappedJobs(reader, offered, place, bedrockFineTuning);
  }

  isMeteredAt(provider: string): boolean {
    return this.#jobs.areMeteredAt(provider);
  }

  async planOf(context: ProviderContext, { body }: JobRequest): Promise<JobPlan> {
    // What AWS would refuse is refused before the file is read.
    const job = toCustomizationJob(body, 'planned');
    const model = String(job['baseModelIdentifier']);
    const { epochCount } = readObject(job['hyperParameters'] ?? {}, 'hyperParameters');
    const epochs = Number(epochCount);
    if (!(epochs <= MAX_EPOCHS)) return leftOpen(EPOCHS, `it must be a number, at most ${MAX_EPOCHS}`);
    const { credential } = context.virtualKey;
    const file = readableS3File(credential, s3Address(body[FILE]), regionOfModel(model));
    if (typeof file === 'string') return leftOpen(FILE, file);
    const plan = await planTraining(this.files, context, file, { model, epochs });
    // Anyone who may write to the bucket can replace the file.
    return { ...plan, mayChange: true };
  }

  traitsOf({ body }: JobRequest): JsonObject {
    return { [FILE]: toFileId(s3Address(body[FILE])) };
  }

  lifetimeMs(): number {
    return LIFETIME_MS;
  }

  idOf({ id }: JsonObject): string | undefined {
    return stringOrUndefined(id);
  }

  async read(context: ProviderContext, { upstreamId }: JobName): Promise<readonly JsonObject[]> {
    const ids =
      upstreamId === null
        ? (await this.#jobs.newest(context, NEWEST)).flatMap((job) => this.idOf(job) ?? [])
        : [upstreamId];
    const found: JsonObject[] = [];
    for (const id of ids) found.push(await this.#jobs.retrieve(context, id));
    return found;
  }

  isOver({ status }: JsonObject): boolean {
    return OVER.has(status);
  }

  /** One that was stopped is billed for what it was trained on until then, which AWS does not say. */
  async usageOf(_context: ProviderContext, job: JsonObject): Promise<readonly DoneCalls[] | undefined> {
    return job['status'] === 'failed' ? [{ model: stringOrUndefined(job['model']), calls: [] }] : undefined;
  }
}
