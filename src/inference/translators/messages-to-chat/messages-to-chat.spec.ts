import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { JsonObject } from '../../../common/json/read.js';
import { cutAt, TARGET, translatedBytes, translatedEvents } from '../__fixtures__/translating.js';
import type { Translation } from '../translator.types.js';
import { messagesToChat } from './messages-to-chat.js';

const ASK = { role: 'user', content: 'Hi' };
const BASE = { model: 'm', max_tokens: 10, messages: [ASK] };
const HEAD = { id: 'chatcmpl-1', model: 'm-1' };
const USAGE = {
  prompt_tokens: 20,
  completion_tokens: 7,
  total_tokens: 27,
  prompt_tokens_details: { cached_tokens: 12 },
};
const MESSAGE_USAGE = {
  input_tokens: 8,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 12,
  output_tokens: 7,
};
const ARGUMENTS = '{"a": 1.50, "b": "ö \\u00e9"}';
const CALL = { id: 'call_1', type: 'function', function: { name: 'add', arguments: ARGUMENTS } };

function translation(more: JsonObject = {}): Translation {
  return messagesToChat.translate({ ...BASE, ...more }, TARGET);
}
const chunk = (delta: JsonObject, more: JsonObject = {}): string =>
  `data: ${JSON.stringify({ ...HEAD, choices: [{ index: 0, delta, finish_reason: null, ...more }] })}\n\n`;
const callPiece = (index: number, called: JsonObject, more: JsonObject = {}): string =>
  chunk({ tool_calls: [{ index, function: called, ...more }] });
const ending = (reason: string, more: JsonObject = {}): string => chunk({}, { finish_reason: reason, ...more });
const USAGE_CHUNK = `data: ${JSON.stringify({ ...HEAD, choices: [], usage: USAGE })}\n\n`;
const DONE = 'data: [DONE]\n\n';
const WORDS = chunk({ role: 'assistant', content: '' }) + chunk({ content: 'Hé' }) + chunk({ content: 'llo' });

describe('an answer', () => {
  const answer = (message: JsonObject, finish_reason = 'stop', more: JsonObject = {}): JsonObject => ({
    ...HEAD,
    choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason, ...more }],
    usage: USAGE,
  });
  const text = { type: 'text', text: 'Yes.' };
  const use = { type: 'tool_use', id: 'call_1', name: 'add', input: { a: 1.5, b: 'ö é' } };

  it.each<[string, JsonObject, readonly JsonObject[], JsonObject?, JsonObject?]>([
    ['a text', answer({ content: 'Yes.' }), [text]],
    [
      'a text in parts',
      answer({
        content: [
          { type: 'text', text: 'Y' },
          { type: 'text', text: 'es.' },
        ],
      }),
      [text],
    ],
    ['nothing', answer({ content: '' }), []],
    ['an answer that its cap has cut', answer({ content: 'Yes.' }, 'length'), [text], { stop_reason: 'max_tokens' }],
    ['a filtered answer', answer({ content: 'Yes.' }, 'content_filter'), [text], { stop_reason: 'refusal' }],
    ['a refusal', answer({ content: null, refusal: 'Yes.' }), [text], { stop_reason: 'refusal' }],
    ['a reason that is not known', answer({ content: 'Yes.' }, 'eos'), [text]],
    [
      'the sequence that has stopped it',
      answer({ content: 'Yes.' }, 'stop', { stop_reason: 'END' }),
      [text],
      { stop_reason: 'stop_sequence', stop_sequence: 'END' },
      { stop_sequences: ['END'] },
    ],
    ['a tool call', answer({ content: null, tool_calls: [CALL] }, 'tool_calls'), [use], { stop_reason: 'tool_use' }],
    [
      'a text and tool calls, of a server that ends them with stop',
      answer({ content: 'Yes.', tool_calls: [CALL, { ...CALL, id: 'call_2' }] }, 'stop'),
      [text, use, { ...use, id: 'call_2' }],
      { stop_reason: 'tool_use' },
    ],
    [
      'a call without arguments and without an id',
      answer({ tool_calls: [{ function: { name: 'now', arguments: '' } }] }, 'tool_calls'),
      [{ type: 'tool_use', id: 'toolu_a1_0', name: 'now', input: {} }],
      { stop_reason: 'tool_use' },
    ],
    [
      'arguments that are an object',
      answer({ tool_calls: [{ id: 'c', function: { name: 'now', arguments: { a: 1 } } }] }, 'tool_calls'),
      [{ type: 'tool_use', id: 'c', name: 'now', input: { a: 1 } }],
      { stop_reason: 'tool_use' },
    ],
    [
      'arguments that the cap has cut',
      answer({ tool_calls: [{ id: 'c', function: { name: 'now', arguments: '{"a' } }] }, 'length'),
      [{ type: 'tool_use', id: 'c', name: 'now', input: {} }],
      { stop_reason: 'max_tokens' },
    ],
    ['calls that are announced and do not come', answer({ content: 'Yes.' }, 'tool_calls'), [text]],
    ['thoughts for a caller that takes none', answer({ content: 'Yes.', reasoning_content: 'Hm.' }), [text]],
    [
      'thoughts',
      answer({ content: 'Yes.', reasoning: 'Hm.' }),
      [{ type: 'thinking', thinking: 'Hm.', signature: '' }, text],
      {},
      { thinking: { type: 'adaptive' } },
    ],
  ])('translates %s', (_what, given, content, more = {}, request = {}) => {
    expect(translation(request).toAnswer(given)).toEqual({
      id: 'chatcmpl-1',
      type: 'message',
      role: 'assistant',
      model: 'm-1',
      content,
      stop_reason: 'end_turn',
      stop_sequence: null,
      ...more,
      usage: MESSAGE_USAGE,
    });
  });

  it.each<[string, JsonObject, string, number]>([
    ['no choice', { ...HEAD, choices: [] }, 'provider_invalid_response', 502],
    ['no message', { ...HEAD, choices: [{ finish_reason: 'stop' }] }, 'provider_invalid_response', 502],
    [
      'arguments that are not JSON',
      answer({ tool_calls: [{ function: { name: 'a', arguments: '{"a' } }] }, 'tool_calls'),
      'provider_invalid_response',
      502,
    ],
    ['a call without a name', answer({ tool_calls: [{ function: {} }] }), 'provider_invalid_response', 502],
    ['an error', { error: { message: 'Broken.', code: 503 } }, 'provider_failed', 502],
    ['an error as a text', { error: 'Broken.' }, 'provider_failed', 502],
    ['a rate limit', { error: { type: 'rate_limit_error' } }, 'provider_rate_limited', 429],
    ['a bad request', { error: { code: 'invalid_prompt' } }, 'provider_rejected', 400],
    ['too long an input', { error: { message: 'The maximum context length is 8.' } }, 'provider_rejected', 400],
  ])('is an error where it has %s', (_what, given, code, status) => {
    expect(() => translation().toAnswer(given)).toThrow(expect.objectContaining({ code, status }));
  });

  it('says that the input is too long in the words that Claude Code knows', () => {
    const message = 'prompt is too long: The maximum context length is 8.';
    expect(() => translation().toAnswer({ error: { message: message.slice(20) } })).toThrow(message);
  });

  it('returns to the provider as it came, when its caller goes on', () => {
    const given = { content: 'Yes.', tool_calls: [CALL] };
    const { content } = translation().toAnswer(answer(given, 'tool_calls'));
    const { body } = translation({ messages: [ASK, { role: 'assistant', content }] });
    expect(body['messages']).toEqual([
      ASK,
      {
        role: 'assistant',
        content: 'Yes.',
        tool_calls: [{ ...CALL, function: { name: 'add', arguments: canonical } }],
      },
    ]);
  });
  const canonical = JSON.stringify(JSON.parse(ARGUMENTS));
});

describe('a stream', () => {
  it('has the events of a message', () => {
    expect(translatedEvents(translation(), WORDS + ending('stop') + USAGE_CHUNK + DONE)).toEqual([
      {
        type: 'message_start',
        message: {
          id: 'chatcmpl-1',
          type: 'message',
          role: 'assistant',
          model: 'm-1',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: {
            input_tokens: 0,
            cache_creation_input_tokens: 0,
            cache_read_input_tokens: 0,
            output_tokens: 0,
          },
        },
      },
      { type: 'ping' },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hé' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'llo' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: MESSAGE_USAGE },
      { type: 'message_stop' },
    ]);
  });

  const begun = callPiece(0, { name: 'add', arguments: '' }, { id: 'call_1', type: 'function' });
  const pieces = [ARGUMENTS.slice(0, 7), ARGUMENTS.slice(7)];
  const second = callPiece(1, { name: 'sub', arguments: '{}' }, { id: 'call_2' });

  it.each<[string, string, readonly (readonly [string, string, string])[]]>([
    [
      'one after the other',
      begun + callPiece(0, { arguments: pieces[0] }) + callPiece(0, { arguments: pieces[1] }) + second,
      [
        ['call_1', 'add', ARGUMENTS],
        ['call_2', 'sub', '{}'],
      ],
    ],
    [
      'whose pieces are mixed',
      begun + callPiece(0, { arguments: pieces[0] }) + second + callPiece(0, { arguments: pieces[1] }),
      [
        ['call_1', 'add', ARGUMENTS],
        ['call_2', 'sub', '{}'],
      ],
    ],
    [
      'that all have the index 0',
      begun + callPiece(0, { arguments: ARGUMENTS }) + callPiece(0, { name: 'sub', arguments: '{}' }, { id: 'call_2' }),
      [
        ['call_1', 'add', ARGUMENTS],
        ['call_2', 'sub', '{}'],
      ],
    ],
    [
      'that all have the index 0 and take turns',
      begun +
        callPiece(0, { name: 'sub', arguments: '{}' }, { id: 'call_2' }) +
        callPiece(0, { arguments: pieces[0] }, { id: 'call_1' }) +
        callPiece(0, { arguments: pieces[1] }),
      [
        ['call_1', 'add', ARGUMENTS],
        ['call_2', 'sub', '{}'],
      ],
    ],
    [
      'whose id comes with every piece',
      begun + callPiece(0, { arguments: ARGUMENTS }, { id: 'call_1' }),
      [['call_1', 'add', ARGUMENTS]],
    ],
    [
      'whose name comes late',
      callPiece(0, { arguments: pieces[0] }, { id: 'call_1' }) + callPiece(0, { name: 'add', arguments: pieces[1] }),
      [['call_1', 'add', ARGUMENTS]],
    ],
    ['without an id', callPiece(0, { name: 'now', arguments: '{}' }), [['toolu_a1_0', 'now', '{}']]],
    ['without arguments', callPiece(0, { name: 'now' }, { id: 'c' }), [['c', 'now', '']]],
    [
      'without an index',
      chunk({ tool_calls: [{ id: 'c', function: { name: 'now', arguments: '{' } }] }) +
        chunk({ tool_calls: [{ function: { arguments: '}' } }] }),
      [['c', 'now', '{}']],
    ],
  ])('keeps id, name and arguments of calls %s', (_what, calls, expected) => {
    const events = translatedEvents(translation(), WORDS + calls + ending('tool_calls') + USAGE_CHUNK + DONE);
    expect(callsIn(events)).toEqual(expected);
    expect(events.at(-2)).toMatchObject({ delta: { stop_reason: 'tool_use' } });
    assertWellFormed(events);
  });

  it.each<[string, string, string, JsonObject?]>([
    ['without an end mark', WORDS + ending('stop') + USAGE_CHUNK, 'Héllo'],
    ['without usage', WORDS + ending('stop') + DONE, 'Héllo'],
    ['with usage in the last chunk', WORDS + ending('stop', { usage: USAGE }) + DONE, 'Héllo'],
    ['with two ends', WORDS + ending('stop') + ending('stop') + USAGE_CHUNK + DONE, 'Héllo'],
    ['without a reason', WORDS + DONE, 'Héllo'],
    [
      'that begins with a chunk without choices',
      `data: {"id":"","choices":[]}\n\n${WORDS}${ending('stop')}${DONE}`,
      'Héllo',
    ],
    [
      'with comments and CRLF',
      `: hi\n\n${WORDS.replaceAll('\n', '\r\n')}: hi\r\n\r\n${ending('stop')}${DONE}`,
      'Héllo',
    ],
    ['whose last event has no empty line', WORDS + ending('stop') + DONE.trimEnd(), 'Héllo'],
    ['with a refusal', chunk({ refusal: 'No.' }) + ending('stop') + DONE, 'No.'],
    ['with content in parts', chunk({ content: [{ type: 'text', text: 'P' }] }) + ending('stop') + DONE, 'P'],
    [
      'with thoughts for a caller that takes none',
      chunk({ reasoning_content: 'Hm.' }) + WORDS + ending('stop') + DONE,
      'Héllo',
    ],
    [
      'with thoughts',
      chunk({ reasoning_content: 'Hm.' }) + WORDS + ending('stop') + DONE,
      'Hm.Héllo',
      { thinking: { type: 'adaptive' } },
    ],
  ])('keeps every word of a stream %s', (_what, given, said, request = {}) => {
    const events = translatedEvents(translation(request), given);
    expect(wordsIn(events)).toBe(said);
    assertWellFormed(events);
  });

  it('is the same however the bytes are cut', () => {
    const calls = begun + callPiece(0, { arguments: pieces[0] }) + second + callPiece(0, { arguments: pieces[1] });
    const given = WORDS + calls + ending('tool_calls') + USAGE_CHUNK + DONE;
    const whole = translatedBytes(translation(), [Buffer.from(given)]);
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 40 }), (cuts) => {
        expect(translatedBytes(translation(), cutAt(given, cuts))).toBe(whole);
      }),
    );
  });

  it.each<[string, string, string]>([
    ['breaks off', WORDS, 'provider_failed'],
    ['has nothing', '', 'provider_failed'],
    ['has its end alone', DONE, 'provider_failed'],
    ['reports an error', `${WORDS}data: {"error":{"message":"Broken."}}\n\n`, 'provider_failed'],
    ['reports a rate limit', 'data: {"error":{"code":429}}\n\n', 'provider_rate_limited'],
    ['reports a bad request', 'data: {"error":{"type":"invalid_request_error"}}\n\n', 'provider_rejected'],
    ['has an event that is not JSON', `${WORDS}data: {"choi\n\n`, 'provider_invalid_response'],
    [
      'has a call without a name',
      callPiece(0, { arguments: '{}' }) + ending('tool_calls'),
      'provider_invalid_response',
    ],
  ])('is an error where it %s', (_what, given, code) => {
    expect(() => translatedEvents(translation(), given)).toThrow(
      expect.objectContaining({ kind: 'incomplete', cause: expect.objectContaining({ code }) }),
    );
  });
});

it('has names of tools that chats take, and returns those of the caller', () => {
  const name = 'mcp__documents__'.padEnd(80, 'x');
  const asked = translation({ tools: [{ name, input_schema: {} }], tool_choice: { type: 'tool', name } });
  const [fitted = ''] = /mcp__documents__x+_[0-9a-f]{8}/.exec(JSON.stringify(asked.body)) ?? [];
  expect(fitted).toHaveLength(64);
  expect(JSON.stringify(asked.body)).not.toContain(name);
  const calls = [{ index: 0, id: 'c', function: { name: fitted, arguments: '{}' } }];
  const answer = asked.toAnswer({ choices: [{ message: { tool_calls: calls } }] });
  expect(answer['content']).toEqual([{ type: 'tool_use', id: 'c', name, input: {} }]);
  const given = chunk({ tool_calls: calls }) + ending('tool_calls') + DONE;
  expect(callsIn(translatedEvents(asked, given))).toEqual([['c', name, '{}']]);
});

describe('a stream without bounds', () => {
  const piece = (call: JsonObject): JsonObject => ({ choices: [{ index: 0, delta: { tool_calls: [call] } }] });
  const invalid = expect.objectContaining({ code: 'provider_invalid_response' });

  it('may call 1,024 tools', () => {
    const stream = translation().newStream();
    const call = (index: number): unknown => stream.push(piece({ index, id: `c${index}`, function: { name: 'a' } }));
    for (let index = 0; index < 1_024; index += 1) call(index);
    expect(() => call(1_024)).toThrow(invalid);
  });

  it('may send 1 MiB of arguments before the name of their tool', () => {
    const stream = translation().newStream();
    const half = { index: 0, id: 'c', function: { arguments: 'x'.repeat(512 * 1024) } };
    expect([stream.push(piece(half)).length, stream.push(piece(half)).length]).toEqual([2, 0]);
    expect(() => stream.push(piece(half))).toThrow(invalid);
  });
});

function callsIn(events: readonly JsonObject[]): readonly unknown[] {
  return events
    .filter(({ content_block: block }) => typeof block === 'object' && JSON.stringify(block).includes('tool_use'))
    .map(({ index, content_block: block }) => {
      const deltas = events.filter((event) => event['type'] === 'content_block_delta' && event['index'] === index);
      const { id, name } = JSON.parse(JSON.stringify(block));
      return [id, name, deltas.map(({ delta }) => JSON.parse(JSON.stringify(delta)).partial_json).join('')];
    });
}

function wordsIn(events: readonly JsonObject[]): string {
  return events
    .map(({ delta }) => (delta === undefined ? {} : JSON.parse(JSON.stringify(delta))))
    .map(({ text = '', thinking = '' }) => String(text) + String(thinking))
    .join('');
}

/** Each block begins once, ends once, and its deltas are in between; the message begins first and ends last. */
function assertWellFormed(events: readonly JsonObject[]): void {
  const open = new Set<unknown>();
  let next = 0;
  for (const { type, index } of events) {
    if (type === 'content_block_start') {
      expect(index).toBe(next);
      next += 1;
      open.add(index);
    }
    if (type === 'content_block_delta') expect(open.has(index)).toBe(true);
    if (type === 'content_block_stop') expect(open.delete(index)).toBe(true);
  }
  expect(open.size).toBe(0);
  expect(events.at(0)?.['type']).toBe('message_start');
  expect(events.slice(-2).map(({ type }) => type)).toEqual(['message_delta', 'message_stop']);
}
