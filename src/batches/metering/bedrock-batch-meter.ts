// Batches of Bedrock. Source: https://docs.aws.amazon.com/bedrock/latest/userguide/batch-inference-results.html, read 2026-11-28.
import { Injectable } from '@nestjs/common';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { type JsonObject, stringOrUndefined } from '../../common/json/read.js';
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
import { ProviderFiles, unreadableReason } from '../../gateway/deferred/provider-files.js';
import type { ProviderContext } from '../../gateway/provider-context.decorator.js';
import type { OperationInput } from '../../gateway/relay/operation.types.js';
import { regionOfModel } from '../../upstream/providers/bedrock/job-fields.js';
import { jobOf, readJob } from '../../upstream/providers/bedrock/jobs.js';
import { readableS3File, s3Address, toFileId } from '../../upstream/providers/bedrock/s3-file.js';
import { OfferedEndpoints } from '../../upstream/providers/offered-endpoints.js';
import { modeOfEndpoint } from '../../usage/prices/price.types.js';
import { INVOCATION_JOB } from '../providers/bedrock-batch.js';
import { toInvocationJob } from '../providers/bedrock-batch-request.js';
import { bedrockBatches } from '../providers/bedrock-batches.js';
import { batchLifetimeMs, ENDPOINT, FILE, isBatchOver, MAX_PLAN_MS, MAX_RESULT_MS } from './batch-meter.js';
import { completedIn, madeNoCall } from './batch-usage.js';
import { BedrockBatchPlan } from './bedrock-batch-plan.js';
import { BedrockBatchUsage, manifestOf, usageInManifest } from './bedrock-batch-usage.js';

const MAX_MANIFEST_CHARACTERS = 65_536;
const NEWEST = 100;
/** What a policy of IAM does not allow, or what is not there. */
const UNREADABLE: ReadonlySet<number | undefined> = new Set([400, 401, 403, 404]);

/** Meters the batches of Bedrock by the files in S3 that the credential of the virtual key can read. */
@Injectable()
export class BedrockBatchMeter implements DeferredMeter {
  readonly endpoint = ENDPOINT;
  readonly operations = ['batches.create'];
  readonly kind = 'batch';
  readonly mode = modeOfEndpoint(ENDPOINT);
  readonly #jobs: MappedJobs;

  constructor(
    private readonly files: ProviderFiles,
    private readonly reader: JobReader,
    meters: DeferredMeters,
    offered: OfferedEndpoints,
  ) {
    meters.add(this);
    const place = { endpoint: ENDPOINT, area: 'batches', idParam: INVOCATION_JOB.idParam };
    this.#jobs = new MappedJobs(reader, offered, place, bedrockBatches);
  }

  isMeteredAt(provider: string): boolean {
    return this.#jobs.areMeteredAt(provider);
  }

  async planOf(context: ProviderContext, { body }: JobRequest): Promise<JobPlan> {
    // What AWS would refuse is refused before it is read.
    const { modelId: model } = toInvocationJob(body, 'planned');
    const plan = new BedrockBatchPlan(context, String(model));
    const request = readableS3File(context.virtualKey.credential, s3Address(body[FILE]), regionOfModel(model));
    if (typeof request === 'string') return plan.leftOpen(request);
    try {
      await this.files.eachLine(context, request, MAX_PLAN_MS, (line, number) => plan.addLine(line, number));
    } catch (error) {
      return plan.leftOpen(unreadableReason(error));
    }
    return plan.plan;
  }

  traitsOf({ body }: JobRequest): JsonObject {
    return { [FILE]: toFileId(s3Address(body[FILE])) };
  }

  lifetimeMs(body: JsonObject): number {
    return batchLifetimeMs(body);
  }

  idOf({ id }: JsonObject): string | undefined {
    return stringOrUndefined(id);
  }

  async read(context: ProviderContext, { upstreamId }: JobName): Promise<readonly JsonObject[]> {
    return upstreamId === null ? this.#jobs.newest(context, NEWEST) : [await this.#jobs.retrieve(context, upstreamId)];
  }

  isOver(batch: JsonObject): boolean {
    return isBatchOver(batch);
  }

  async usageOf(
    context: ProviderContext,
    batch: JsonObject,
    isSumEnough: (model: string | undefined) => Promise<boolean>,
  ): Promise<readonly DoneCalls[] | undefined> {
    const name = jobOf(INVOCATION_JOB, nameOf(String(batch['id'])), context.virtualKey.credential);
    const job = await readJob(INVOCATION_JOB, name, this.reader.ask(context, 'batches.retrieve'));
    const model = stringOrUndefined(batch['model']);
    const files = manifestOf(job, name.arn);
    const manifest = await this.contentOf(context, files?.manifest, model);
    // A job that failed, or that was stopped early, may have none.
    if (manifest === undefined) return madeNoCall(batch) ? [] : undefined;
    const sum = usageInManifest(manifest);
    if (sum !== undefined && (await isSumEnough(model))) return [{ model, calls: [sum] }];
    return this.usageOfLines(context, files?.results, batch);
  }

  /** undefined: there is none, or it cannot be read. */
  private async contentOf(
    context: ProviderContext,
    address: string | undefined,
    model: string | undefined,
  ): Promise<string | undefined> {
    let text = '';
    const onLine = (line: Buffer): void => {
      // A longer text is not a manifest, and will not be read as one.
      if (text.length < MAX_MANIFEST_CHARACTERS) text += line.toString();
    };
    const isRead = await this.isRead(context, address, model, onLine);
    return isRead ? text : undefined;
  }

  private async usageOfLines(
    context: ProviderContext,
    address: string | undefined,
    batch: JsonObject,
  ): Promise<readonly DoneCalls[] | undefined> {
    const usage = new BedrockBatchUsage();
    const model = stringOrUndefined(batch['model']);
    if (!(await this.isRead(context, address, model, (line) => usage.addLine(line)))) return undefined;
    const calls = usage.calls(completedIn(batch));
    return calls === undefined ? undefined : [{ model, calls }];
  }

  /** @throws what may be otherwise later */
  private async isRead(
    context: ProviderContext,
    address: string | undefined,
    model: string | undefined,
    onLine: (line: Buffer) => void,
  ): Promise<boolean> {
    const request = readableS3File(context.virtualKey.credential, address, regionOfModel(model));
    if (typeof request === 'string') return false;
    try {
      await this.files.eachLine(context, request, MAX_RESULT_MS, onLine);
      return true;
    } catch (error) {
      if (error instanceof GatewayError && UNREADABLE.has(error.provider?.status)) return false;
      throw error;
    }
  }
}

function nameOf(id: string): OperationInput {
  return { params: { [INVOCATION_JOB.idParam]: id }, query: {}, body: undefined };
}
