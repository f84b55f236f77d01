// Fine-tuning at Bedrock: model-customization jobs. Source: https://docs.aws.amazon.com/bedrock/latest/userguide/custom-models.html, read 2026-11-21.
import { randomUUID } from 'node:crypto';
import { readObject } from '../../common/json/read.js';
import { regionOfModel } from '../../upstream/providers/bedrock/job-fields.js';
import { jobOf, listJobs, readJob, readNewJob, stopJob } from '../../upstream/providers/bedrock/jobs.js';
import { toCursorList } from '../../common/pagination/cursor-walk.js';
import type { MappedOperation, MappedProvider } from '../../gateway/relay/operation.types.js';
import { CUSTOMIZATION_JOB, toFineTuningJob, toStoppedJob } from './bedrock-fine-tuning-job.js';
import { LEFT_OUT, toCustomizationJob } from './bedrock-fine-tuning-request.js';

/** `uniqueName` returns at most 50 letters, digits and single dashes. */
export function createBedrockFineTuning(uniqueName: () => string): MappedProvider {
  const list: MappedOperation = async (input, ask, credential) => {
    const { items, hasMore } = await listJobs(CUSTOMIZATION_JOB, input, ask, credential);
    return toCursorList(items.map(toFineTuningJob), hasMore);
  };

  const retrieve: MappedOperation = async (input, ask, credential) =>
    toFineTuningJob(await readJob(CUSTOMIZATION_JOB, jobOf(CUSTOMIZATION_JOB, input, credential), ask));

  const create: MappedOperation = async (input, ask) => {
    const body = toCustomizationJob(input.body ?? {}, input.changeKey ?? uniqueName());
    const model = body['baseModelIdentifier'];
    const region = regionOfModel(model);
    const made = await ask({ method: 'POST', path: '/model-customization-jobs', body, region, plane: 'control' });
    const { jobArn } = readObject(made, 'body');
    return toFineTuningJob(await readNewJob(CUSTOMIZATION_JOB, { ...body, baseModelArn: model, jobArn }, ask));
  };

  const cancel: MappedOperation = async (input, ask, credential) =>
    toStoppedJob(await stopJob(CUSTOMIZATION_JOB, jobOf(CUSTOMIZATION_JOB, input, credential), ask));

  return {
    kind: 'mapped',
    slug: 'bedrock',
    leavesOut: { 'fine_tuning.jobs.create': LEFT_OUT, 'fine_tuning.jobs.list': ['metadata'] },
    operations: {
      'fine_tuning.jobs.list': list,
      'fine_tuning.jobs.create': create,
      'fine_tuning.jobs.retrieve': retrieve,
      'fine_tuning.jobs.cancel': cancel,
    },
  };
}

export const bedrockFineTuning: MappedProvider = createBedrockFineTuning(randomUUID);
