// The fine-tuning area of the OpenAI API. Source: https://platform.openai.com/docs/api-reference/fine-tuning, read 2026-11-21.
import { CursorQuery } from '../common/pagination/cursor.query.js';
import type { RelayRoute } from '../gateway/relay/relay-route.js';
import { FineTuningJobListResponse, FineTuningJobResponse } from './fine-tuning.response.js';

const JOB = { kind: 'fine_tuning.job', name: 'fine_tuning_job_id' } as const;
const RESULTS = [{ kind: 'file', name: 'result_files' }] as const;
const JOBS = '/fine_tuning/jobs';
const ONE_JOB = `${JOBS}/{fine_tuning_job_id}`;

export const FINE_TUNING_ROUTES: readonly RelayRoute[] = [
  {
    kind: 'list',
    operation: 'fine_tuning.jobs.list',
    operationId: 'listFineTuningJobs',
    summary: 'Lists fine-tuning jobs, newest first.',
    path: JOBS,
    scope: 'fine_tuning.list',
    query: CursorQuery,
    response: FineTuningJobListResponse,
    lists: 'fine_tuning.job',
    produces: RESULTS,
  },
  {
    kind: 'create',
    operation: 'fine_tuning.jobs.create',
    spends: true,
    operationId: 'createFineTuningJob',
    summary: 'Creates a fine-tuning job.',
    path: JOBS,
    scope: 'fine_tuning.create',
    response: FineTuningJobResponse,
    creates: { kind: 'fine_tuning.job', idField: 'id' },
    uses: [
      { kind: 'file', name: 'training_file' },
      { kind: 'file', name: 'validation_file' },
    ],
  },
  {
    kind: 'retrieve',
    operation: 'fine_tuning.jobs.retrieve',
    operationId: 'retrieveFineTuningJob',
    summary: 'Retrieves a fine-tuning job.',
    path: ONE_JOB,
    scope: 'fine_tuning.read',
    response: FineTuningJobResponse,
    about: JOB,
    produces: RESULTS,
  },
  {
    kind: 'action',
    operation: 'fine_tuning.jobs.cancel',
    operationId: 'cancelFineTuningJob',
    summary: 'Cancels a fine-tuning job.',
    path: `${ONE_JOB}/cancel`,
    scope: 'fine_tuning.update',
    response: FineTuningJobResponse,
    about: JOB,
    produces: RESULTS,
  },
  {
    kind: 'action',
    operation: 'fine_tuning.jobs.pause',
    operationId: 'pauseFineTuningJob',
    summary: 'Pauses a fine-tuning job.',
    path: `${ONE_JOB}/pause`,
    scope: 'fine_tuning.update',
    response: FineTuningJobResponse,
    about: JOB,
    produces: RESULTS,
  },
  {
    kind: 'action',
    operation: 'fine_tuning.jobs.resume',
    spends: true,
    operationId: 'resumeFineTuningJob',
    summary: 'Resumes a paused fine-tuning job.',
    path: `${ONE_JOB}/resume`,
    scope: 'fine_tuning.update',
    response: FineTuningJobResponse,
    about: JOB,
    produces: RESULTS,
  },
  {
    kind: 'items',
    operation: 'fine_tuning.jobs.events.list',
    operationId: 'listFineTuningEvents',
    summary: 'Lists the events of a fine-tuning job.',
    path: `${ONE_JOB}/events`,
    scope: 'fine_tuning.read',
    query: CursorQuery,
    about: JOB,
  },
  {
    kind: 'items',
    operation: 'fine_tuning.jobs.checkpoints.list',
    operationId: 'listFineTuningCheckpoints',
    summary: 'Lists the checkpoints of a fine-tuning job.',
    path: `${ONE_JOB}/checkpoints`,
    scope: 'fine_tuning.read',
    query: CursorQuery,
    about: JOB,
  },
];
