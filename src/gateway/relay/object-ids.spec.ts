import { describe, expect, it } from '@jest/globals';
import { answeredIds, hasField, usedIds } from './object-ids.js';

describe('ids in a body', () => {
  it.each([
    [{ file_id: 'a' }, ['a']],
    [{ file_id: ['a', 'b', 7, null] }, ['a', 'b']],
    [{ thread: { messages: [{ attachments: [{ file_id: 'a' }] }, { file_id: 'b' }] } }, ['a', 'b']],
    [{ file_id: { file_id: 'a' } }, ['a']],
    [[{ file_id: 'a' }], ['a']],
    [{ File_Id: 'a', FILE_ID: ['b'], file_id: 'c' }, ['a', 'b', 'c']],
    [{ THREAD: { Messages: [{ File_ID: 'a' }] } }, ['a']],
  ])('finds ids at any depth of the body: %j', (body, ids) => {
    expect(usedIds(body, 'file_id')).toEqual(ids);
  });

  it.each([
    [{ metadata: { file_id: 'a' } }],
    [{ thread: { metadata: { file_id: 'a' } } }],
    [{ Metadata: { file_id: 'a' } }],
    [{ file_id: null }],
    [{ file_ids: ['a'] }],
    [{ parameters: { properties: { file_id: { type: 'string' } } } }],
    ['file_id'],
    [undefined],
  ])('ignores other names, other types and notes: %j', (body) => {
    expect(usedIds(body, 'file_id')).toEqual([]);
  });
});

describe('fields of a body', () => {
  it.each([[{ files: ['a'] }], [{ Files: {} }], [{ a: [{ files: 'x' }] }], [{ files: [], a: { files: ['x'] } }]])(
    'finds one with a value: %j',
    (body) => expect(hasField(body, ['other', 'files'])).toBe(true),
  );

  it.each([[{ files: [] }], [{ files: null }], [{ metadata: { files: 'a' } }], ['files'], [undefined]])(
    'finds none: %j',
    (body) => expect(hasField(body, ['files'])).toBe(false),
  );
});

describe('ids in a response', () => {
  it.each([
    [{ output_file_id: 'a' }, ['a']],
    [{ output_file_id: ['a', 'b'] }, ['a', 'b']],
    [
      { object: 'list', data: [{ output_file_id: 'a' }, { output_file_id: null }, 'x', { output_file_id: 'b' }] },
      ['a', 'b'],
    ],
  ])('finds the ids of the resource or of the items: %j', (answer, ids) => {
    expect(answeredIds(answer, 'output_file_id')).toEqual(ids);
  });

  it.each([[{ method: { output_file_id: 'a' } }], [{ metadata: { output_file_id: 'a' } }], [['a']], [null], ['a']])(
    'ignores deeper ids of a response, which may repeat the request: %j',
    (answer) => {
      expect(answeredIds(answer, 'output_file_id')).toEqual([]);
    },
  );
});
