import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { type JsonObject, readObject } from '../../common/json/read.js';
import { azureFineTuning } from './azure-fine-tuning.js';

const JOB = readObject(
  JSON.parse(readFileSync(new URL('__fixtures__/azure-fine-tuning-job.json', import.meta.url), 'utf8')),
  'fixture',
);
const normalise = (job: JsonObject): JsonObject => azureFineTuning.normalise?.(job) ?? {};

describe('a fine-tuning job of azure-openai', () => {
  it('gets the required fields that it leaves out', () => {
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

  it('keeps its order and what the interface does not know', () => {
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
  ])('with the hyperparameters %j has %j', (hyperparameters, expected) => {
    expect(normalise({ ...JOB, hyperparameters })['hyperparameters']).toEqual(expected);
  });

  it.each([
    ['created', 'queued'],
    ['pending', 'queued'],
    ['notRunning', 'queued'],
    ['canceled', 'cancelled'],
    ['running', 'running'],
    ['paused', 'paused'],
    [undefined, null],
  ])('that is %s is %s', (azureStatus, status) => {
    expect(normalise({ ...JOB, status: azureStatus })['status']).toBe(status);
  });

  it('reads the owner in either spelling', () => {
    expect(normalise({ ...JOB, organisation_id: 'org-1' })['organization_id']).toBe('org-1');
    expect(normalise({ ...JOB, organization_id: 'org-2' })['organization_id']).toBe('org-2');
  });
});
