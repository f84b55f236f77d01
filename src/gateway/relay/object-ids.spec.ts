import { describe, expect, it } from '@jest/globals';
import { answeredIds, isNamed, usedIds } from './object-ids.js';

describe('the ids that a body uses', () => {
  it.each([
    [{ file_id: 'a' }, ['a']],
    [{ file_id: ['a', 'b', 7, null] }, ['a', 'b']],
    [{ thread: { messages: [{ attachments: [{ file_id: 'a' }] }, { file_id: 'b' }] } }, ['a', 'b']],
    [{ file_id: { file_id: 'a' } }, ['a']],
    [[{ file_id: 'a' }], ['a']],
    [{ File_Id: 'a', FILE_ID: ['b'], file_id: 'c' }, ['a', 'b', 'c']],
    [{ THREAD: { Messages: [{ File_ID: 'a' }] } }, ['a']],
  ])('are found at any depth: %j', (body, ids) => {
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
  ])('are not what has another name, is no text, or is a note: %j', (body) => {
    expect(usedIds(body, 'file_id')).toEqual([]);
  });
});

describe('the name of a field', () => {
  it.each(['sink_id', 'Sink_Id', 'SINK_ID', '\u017Fink_id', 'sin\u212A_id'])('may be spelled %s', (spelling) =>
    expect(isNamed(spelling, 'sink_id')).toBe(true),
  );

  it.each(['sinkid', 'sink-id', 'sink_ids', ' sink_id', ''])('is another when it is %j', (other) =>
    expect(isNamed(other, 'sink_id')).toBe(false),
  );
});

describe('the ids that an answer tells', () => {
  it.each([
    [{ output_file_id: 'a' }, ['a']],
    [{ output_file_id: ['a', 'b'] }, ['a', 'b']],
    [
      { object: 'list', data: [{ output_file_id: 'a' }, { output_file_id: null }, 'x', { output_file_id: 'b' }] },
      ['a', 'b'],
    ],
  ])('are those of the resource or of the items: %j', (answer, ids) => {
    expect(answeredIds(answer, 'output_file_id')).toEqual(ids);
  });

  it.each([[{ method: { output_file_id: 'a' } }], [{ metadata: { output_file_id: 'a' } }], [['a']], [null], ['a']])(
    'are nothing that lies deeper, where it may be an echo: %j',
    (answer) => {
      expect(answeredIds(answer, 'output_file_id')).toEqual([]);
    },
  );
});
