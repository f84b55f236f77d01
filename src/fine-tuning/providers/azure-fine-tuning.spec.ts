import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { type JsonObject, readObject } from '../../common/json/read.js';
import { azureFineTuning } from './azure-fine-tuning.js';

const JOB = readObject(
  JSON.parse(readFileSync(new URL('__fixtures__/azure-fine-tuning-job.json', import.meta.url), 'utf8')),
  'fixture',
);
const normalise = (job: JsonObject): JsonObject => azureFineTuning.normalise?.(job) ?? {};

describe('fine-tuning jobs of azure-openai', () => {
  it('adds required fields that Azure leaves out', () => {
    expect(normalise(JOB)).toEqual({
      ...JOB,
      hyperparameters: { n_epochs: 'auto' },
      error: { code: null, message: null, param: null },
      fine_tuned_model: null,
      organization_id: null,
      result_files: [],
      seed: null,
      trained_tokens: null,
      validation_file: null,
    });
  });

  it('keeps the order of the fields and unknown fields', () => {
    const mended = normalise({ ...JOB, suffix: 'x', error: { code: 'a', message: 'b', param: null } });
    expect(Object.keys(mended).slice(0, 10)).toEqual([...Object.keys(JOB), 'suffix', 'error']);
    expect(mended).toMatchObject({ suffix: 'x', error: { code: 'a', message: 'b', param: null } });
  });

  it.each([
    [
      { n_epochs: -1, batch_size: 4 },
      { n_epochs: 'auto', batch_size: 4 },
    ],
    [{ n_epochs: 3 }, { n_epochs: 3 }],
    [{}, { n_epochs: null }],
    [undefined, { n_epochs: null }],
  ])('maps the hyperparameters %j to %j', (hyperparameters, expected) => {
    expect(normalise({ ...JOB, hyperparameters })['hyperparameters']).toEqual(expected);
  });

  it.each([
    ['created', 'queued'],
    ['pending', 'queued'],
    ['notRunning', 'queued'],
    ['canceled', 'cancelled'],
    ['running', 'running'],
    ['paused', 'queued'],
    ['deleted', 'cancelled'],
    ['Succeeded', 'succeeded'],
    ['somethingNew', 'running'],
    [undefined, null],
  ])('maps the status %s to %s, and keeps the original status where it differs', (azureStatus, status) => {
    const { status: mapped, tollgate } = normalise({ ...JOB, status: azureStatus });
    expect(mapped).toBe(status);
    const isOther = azureStatus !== undefined && azureStatus !== status;
    expect(tollgate).toEqual(isOther ? { provider_status: azureStatus } : undefined);
  });

  it('replaces nulls of Azure by values that OpenAI clients accept', () => {
    expect(normalise({ ...JOB, error: null, result_files: null })).toMatchObject({
      error: { code: null, message: null, param: null },
      result_files: [],
    });
    expect(normalise({ ...JOB, error: { message: 'm', inner_error: {} } })['error']).toEqual({
      code: null,
      message: 'm',
      param: null,
      inner_error: {},
    });
  });

  it('has the fields of an ended job only after its end, and no estimate of the end then', () => {
    const full = { ...JOB, fine_tuned_model: 'm', finished_at: 2, trained_tokens: 3, estimated_finish: 4 };
    const ended = { fine_tuned_model: 'm', finished_at: 2, trained_tokens: 3, estimated_finish: null };
    const running = { fine_tuned_model: null, finished_at: null, trained_tokens: null, estimated_finish: 4 };
    for (const status of ['queued', 'running', 'paused']) {
      expect(normalise({ ...full, status })).toMatchObject(running);
    }
    for (const status of ['succeeded', 'failed', 'canceled']) {
      expect(normalise({ ...full, status })).toMatchObject(ended);
    }
    expect(normalise({ ...JOB, status: 'succeeded' })).not.toHaveProperty('estimated_finish');
  });

  it('reads the owner in the British and the American spelling', () => {
    expect(normalise({ ...JOB, organisation_id: 'org-1' })['organization_id']).toBe('org-1');
    expect(normalise({ ...JOB, organization_id: 'org-2' })['organization_id']).toBe('org-2');
  });
});
