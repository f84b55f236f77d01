import { expect, it } from '@jest/globals';
import { withRequiredFields } from './job-fields.js';

it('adds the required fields that a server leaves out, and keeps what it has', () => {
  const job = { id: 'ftjob-1', status: 'paused', seed: 7, error: null };
  const whole = withRequiredFields(job);
  expect(whole).toEqual({
    ...job,
    object: 'fine_tuning.job',
    created_at: null,
    fine_tuned_model: null,
    finished_at: null,
    hyperparameters: { n_epochs: null },
    model: null,
    organization_id: null,
    result_files: [],
    trained_tokens: null,
    training_file: null,
    validation_file: null,
  });
  expect(withRequiredFields(whole)).toBe(whole);
});
