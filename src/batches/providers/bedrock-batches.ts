// Batches of Bedrock: model-invocation jobs. Source: https://docs.aws.amazon.com/bedrock/latest/userguide/batch-inference.html, read 2026-11-21.
import { randomUUID } from 'node:crypto';
import { readObject } from '../../common/json/read.js';
import { regionOfModel } from '../../upstream/providers/bedrock/job-fields.js';
import { jobOf, listJobs, readJob, readNewJob, stopJob } from '../../upstream/providers/bedrock/jobs.js';
import { toCursorList } from '../../common/pagination/cursor-walk.js';
import type { MappedOperation, MappedProvider } from '../../gateway/relay/operation.types.js';
import { INVOCATION_JOB, toBatch, toStoppedBatch } from './bedrock-batch.js';
import { LEFT_OUT, toInvocationJob } from './bedrock-batch-request.js';

/** `uniqueName` returns at most 50 letters, digits and dashes. */
export function createBedrockBatches(uniqueName: () => string): MappedProvider {
  const list: MappedOperation = async (input, ask, credential) => {
    const { items, hasMore } = await listJobs(INVOCATION_JOB, input, ask, credential);
    return toCursorList(items.map(toBatch), hasMore);
  };

  const retrieve: MappedOperation = async (input, ask, credential) =>
    toBatch(await readJob(INVOCATION_JOB, jobOf(INVOCATION_JOB, input, credential), ask));

  const create: MappedOperation = async (input, ask) => {
    const body = toInvocationJob(input.body ?? {}, input.changeKey ?? uniqueName());
    const region = regionOfModel(body['modelId']);
    const made = await ask({ method: 'POST', path: '/model-invocation-job', body, region, plane: 'control' });
    const { jobArn } = readObject(made, 'body');
    return toBatch(await readNewJob(INVOCATION_JOB, { ...body, jobArn }, ask));
  };

  const cancel: MappedOperation = async (input, ask, credential) =>
    toStoppedBatch(await stopJob(INVOCATION_JOB, jobOf(INVOCATION_JOB, input, credential), ask));

  return {
    kind: 'mapped',
    slug: 'bedrock',
    leavesOut: { 'batches.create': LEFT_OUT },
    operations: {
      'batches.list': list,
      'batches.create': create,
      'batches.retrieve': retrieve,
      'batches.cancel': cancel,
    },
  };
}

export const bedrockBatches = createBedrockBatches(randomUUID);
