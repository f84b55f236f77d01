import { describe, expect, it } from '@jest/globals';
import { namesFailure, namesSuccess } from './provider-error.js';

const RESULTS = [{ index: 0, relevance_score: 0.5 }];

describe('namesFailure', () => {
  it.each([
    { base_resp: { status_code: 1004, status_msg: 'login fail' } },
    { id: '0a1b', choices: null, base_resp: { status_code: 1008, status_msg: 'insufficient balance' } },
    { data: [], base_resp: { status_code: 1002, status_msg: 'rate limit' } },
    { code: 1001, message: 'no' },
    { code: '1001', msg: 'no', data: null },
    { code: 'InvalidParameter', message: 'no', request_id: 'r' },
    { code: -1, msg: 'no', results: [] },
    { error_code: 336_003, error_msg: 'no' },
    { errcode: 40_001, errmsg: 'no' },
  ])('recognises %j', (answer) => expect(namesFailure(answer)).toBe(true));

  it.each([
    { base_resp: { status_code: 0, status_msg: 'success' } },
    { base_resp: {} },
    { results: RESULTS, base_resp: { status_code: 1004, status_msg: 'one document was cut' } },
    { data: RESULTS, code: 3, message: 'two documents were cut' },
    { code: 0, message: 'no' },
    { code: '0', msg: 'no' },
    { code: 200, msg: 'done' },
    { code: 20_000, message: 'OK', status: true },
    { code: 1, msg: 'Success' },
    { code: 'ok', message: 'queued' },
    { code: 7, success: true, message: 'queued' },
    // Without words it could be anything.
    { code: 7 },
    { code: null, message: 'no' },
    { code: '', message: 'no' },
    // An object of the provider that failed, not the call.
    { id: 'ftjob-1', code: 'invalid_file', message: 'the file is empty' },
    { message: 'no' },
    {},
    [{ code: 1, message: 'no' }],
    'no',
    null,
  ])('recognises nothing in %j', (answer) => expect(namesFailure(answer)).toBe(false));
});

describe('namesSuccess', () => {
  it.each([
    [{ code: 0, message: 'success' }, true],
    [{ base_resp: { status_code: 0, status_msg: 'success' } }, true],
    [{ base_resp: { status_code: 1004 } }, false],
    [{ code: 0, error_code: 17 }, false],
    [{ message: 'no' }, false],
    [{ code: '' }, false],
  ])('%j: %p', (answer, expected) => expect(namesSuccess(answer)).toBe(expected));
});
