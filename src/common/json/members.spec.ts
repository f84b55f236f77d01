import { describe, expect, it } from '@jest/globals';
import { memberText, readMembers } from './members.js';

const NAMES = new Set(['model', 'n', 'stream_options']);

function read(text: string): unknown {
  return readMembers(Buffer.from(text), NAMES);
}

describe('readMembers', () => {
  it.each([
    ['{"model":"m","messages":[{"model":"inner","n":3}],"n":2}', { model: 'm', n: 2 }],
    [' {"messages":["}\\"",{"a":"\\\\"}], "n" : 1 , "model":"\\u006d"}\n', { model: 'm', n: 1 }],
    [
      '{"stream_options":{"include_usage":true,"x":[1,{"y":2}]},"n":null}',
      { stream_options: { include_usage: true, x: [1, { y: 2 }] }, n: null },
    ],
    ['{"\\u006dodel":"m"}', { model: 'm' }],
    ['{}', {}],
    // What is not read may be anything: the provider judges it.
    ['{"messages":[01,nope],"model":"m"}', { model: 'm' }],
  ])('reads %s', (text, expected) => expect(read(text)).toEqual(expected));

  it.each([
    ['{"model":"a","model":"b"}', 'model must not be there twice'],
    ['{"model":"a","\\u006dodel":"b"}', 'model must not be there twice'],
    ['{"n":1,"messages":[],"n":1}', 'n must not be there twice'],
    ['{"model":"a","Model":"b"}', 'Model must be written model'],
    ['{"STREAM_OPTION\\u017f":{}}', 'STREAM_OPTION\u017f must be written stream_options'],
    ['{"mo\\del":"a"}', 'The request body has a name that is not valid JSON.'],
    ['{"n":01}', 'n must be valid JSON'],
    [`{"model":"${'m'.repeat(5_000)}"}`, 'model must have at most 4096 bytes'],
    ['[{"model":"a"}]', 'The request body must be a JSON object.'],
    ['"model"', 'The request body must be a JSON object.'],
    ['{"model":"a"', 'The request body must be a JSON object.'],
    ['', 'The request body must be a JSON object.'],
    // A reader that goes on, or takes the last one, would find another model.
    ['{"model":"a"}{"model":"b"}', 'The request body must be a JSON object.'],
    ['{"model":"a"},"model":"b"}', 'The request body must be a JSON object.'],
    ['{"model":"a"}\n{}', 'The request body must be a JSON object.'],
  ])('refuses %s', (text, message) => expect(() => read(text)).toThrow(message));

  it('refuses bytes that are not UTF-8', () => {
    expect(() => readMembers(Buffer.from('{"model":"\xff"}', 'latin1'), NAMES)).toThrow('not valid UTF-8');
  });
});

describe('memberText', () => {
  it('takes the name as it is written, in one case alone', () => {
    expect(memberText(Buffer.from('{"modelInput":{"a":1}}'), 'modelInput')?.toString()).toBe('{"a":1}');
    expect(() => memberText(Buffer.from('{"modelinput":{}}'), 'modelInput')).toThrow('must be written modelInput');
  });

  it.each([
    ['{"url":"/x","body":{"a":[1,{"body":2}]}}', '{"a":[1,{"body":2}]}'],
    ['{"body": "}" ,"b":1}', ' "}" '],
    ['{"a":{"body":1}}', undefined],
    ['{}', undefined],
  ])('finds the body of %s', (json, text) => expect(memberText(Buffer.from(json), 'body')?.toString()).toBe(text));

  it.each(['{"body":1,"body":2}', '{"body":1,"Body":2}', '{"body":1}{"body":2}'])('refuses %s', (json) => {
    expect(() => memberText(Buffer.from(json), 'body')).toThrow('body');
  });
});
