import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { type JsonObject, readArray, readObject } from '../../common/json/read.js';
import { azureBatches } from './azure-batches.js';

const LIST = readObject(
  JSON.parse(readFileSync(new URL('__fixtures__/azure-batches.json', import.meta.url), 'utf8')),
  'fixture',
);
const BATCH = readObject(readArray(LIST['data'], 'data')[0], 'data[0]');
const normalise = (batch: JsonObject): JsonObject => azureBatches.normalise?.(batch) ?? {};

describe('batches of azure-openai', () => {
  it('keeps a complete batch unchanged, with its order and unknown fields', () => {
    expect(JSON.stringify(normalise(BATCH))).toBe(JSON.stringify(BATCH));
  });

  it('fills missing fields with null', () => {
    const mended = normalise({ id: 'batch_1', status: 'validating', created_at: 1 });
    const told = Object.entries(mended).filter(([, value]) => value !== null);
    expect(told).toEqual([
      ['id', 'batch_1'],
      ['status', 'validating'],
      ['created_at', 1],
      ['object', 'batch'],
    ]);
    const fields = Object.keys(BATCH).filter((name) => name !== 'first_id' && name !== 'last_id');
    expect(Object.keys(mended).toSorted()).toEqual(fields.toSorted());
  });

  it.each([
    ['notRunning', 'validating'],
    ['pending', 'validating'],
    ['running', 'in_progress'],
    ['succeeded', 'completed'],
    ['canceling', 'cancelling'],
    ['canceled', 'cancelled'],
    ['finalizing', 'finalizing'],
    ['Validating', 'validating'],
    ['somethingNew', 'in_progress'],
    [undefined, null],
  ])('maps the status %s to %s, and keeps the original status where it differs', (azureStatus, status) => {
    const { status: mapped, tollgate } = normalise({ ...BATCH, status: azureStatus });
    expect(mapped).toBe(status);
    const isOther = azureStatus !== undefined && azureStatus !== status;
    expect(tollgate).toEqual(isOther ? { provider_status: azureStatus } : undefined);
  });

  it.each([
    [{ data: { code: 'a', line: '5' } }, { object: 'list', data: [{ code: 'a', line: 5 }] }],
    [
      { object: 'list', data: [{ line: 'x' }] },
      { object: 'list', data: [{ line: null }] },
    ],
    [
      { object: 'list', data: [{ line: 7 }, 'odd'] },
      { object: 'list', data: [{ line: 7 }, 'odd'] },
    ],
    [{ object: null }, { object: 'list', data: [] }],
    ['odd', null],
  ])('maps the errors %j to %j', (errors, expected) => {
    expect(normalise({ ...BATCH, errors })['errors']).toEqual(expected);
  });
});
