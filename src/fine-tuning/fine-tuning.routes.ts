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
    operation: 'fine_tuning.jobs.list',
    summary: 'Lists fine-tuning jobs, newest first.',
    method: 'GET',
    path: JOBS,
    scope: 'fine_tuning.list',
    reads: 'list',
    query: CursorQuery,
    response: FineTuningJobListResponse,
    lists: 'fine_tuning.job',
    produces: RESULTS,
  },
  {
    operation: 'fine_tuning.jobs.create',
    summary: 'Creates a fine-tuning job.',
    method: 'POST',
    path: JOBS,
    scope: 'fine_tuning.create',
    body: 'json',
    response: FineTuningJobResponse,
    creates: { kind: 'fine_tuning.job', idField: 'id' },
    uses: [
      { kind: 'file', name: 'training_file' },
      { kind: 'file', name: 'validation_file' },
    ],
  },
  {
    operation: 'fine_tuning.jobs.retrieve',
    summary: 'Retrieves a fine-tuning job.',
    method: 'GET',
    path: ONE_JOB,
    scope: 'fine_tuning.read',
    reads: 'object',
    response: FineTuningJobResponse,
    about: JOB,
    produces: RESULTS,
  },
  {
    operation: 'fine_tuning.jobs.cancel',
    summary: 'Cancels a fine-tuning job.',
    method: 'POST',
    path: `${ONE_JOB}/cancel`,
    scope: 'fine_tuning.update',
    body: 'json',
    response: FineTuningJobResponse,
    about: JOB,
    produces: RESULTS,
  },
  {
    operation: 'fine_tuning.jobs.pause',
    summary: 'Pauses a fine-tuning job.',
    method: 'POST',
    path: `${ONE_JOB}/pause`,
    scope: 'fine_tuning.update',
    body: 'json',
    response: FineTuningJobResponse,
    about: JOB,
    produces: RESULTS,
  },
  {
    operation: 'fine_tuning.jobs.resume',
    summary: 'Resumes a paused fine-tuning job.',
    method: 'POST',
    path: `${ONE_JOB}/resume`,
    scope: 'fine_tuning.update',
    body: 'json',
    response: FineTuningJobResponse,
    about: JOB,
    produces: RESULTS,
  },
  {
    operation: 'fine_tuning.jobs.events.list',
    summary: 'Lists what happened in a fine-tuning job.',
    method: 'GET',
    path: `${ONE_JOB}/events`,
    scope: 'fine_tuning.read',
    reads: 'list',
    query: CursorQuery,
    about: JOB,
  },
  {
    operation: 'fine_tuning.jobs.checkpoints.list',
    summary: 'Lists the checkpoints of a fine-tuning job.',
    method: 'GET',
    path: `${ONE_JOB}/checkpoints`,
    scope: 'fine_tuning.read',
    reads: 'list',
    query: CursorQuery,
    about: JOB,
  },
];
