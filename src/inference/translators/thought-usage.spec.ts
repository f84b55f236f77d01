import { expect, it } from '@jest/globals';
import { isObject, type JsonObject } from '../../common/json/read.js';
import type { DialectSlug } from '../../upstream/providers/provider.types.js';
import { TARGET, translatedEvents } from './__fixtures__/translating.js';
import { translatorFor } from './translators.js';
import type { Translation, TranslatedDialect } from './translator.types.js';

const CHAT_USAGE = { prompt_tokens: 3, completion_tokens: 9, completion_tokens_details: { reasoning_tokens: 7 } };
const MESSAGE_USAGE = { input_tokens: 3, output_tokens: 9, output_tokens_details: { thinking_tokens: 7 } };
const CHOICE = { index: 0, finish_reason: 'stop' };
const MESSAGE = {
  type: 'message',
  role: 'assistant',
  content: [{ type: 'text', text: 'Hi' }],
  stop_reason: 'end_turn',
};
const EVENTS: readonly JsonObject[] = [
  { type: 'message_start', message: { ...MESSAGE, content: [] } },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: MESSAGE_USAGE },
  { type: 'message_stop' },
];
const ANSWERS = {
  'openai-chat': { choices: [{ ...CHOICE, message: { role: 'assistant', content: 'Hi' } }], usage: CHAT_USAGE },
  'anthropic-messages': { ...MESSAGE, usage: MESSAGE_USAGE },
};
const STREAMS = {
  'openai-chat': [{ choices: [{ ...CHOICE, delta: { content: 'Hi' } }] }, { choices: [], usage: CHAT_USAGE }],
  'anthropic-messages': EVENTS,
};

it.each<[DialectSlug, keyof typeof ANSWERS]>([
  ['openai-chat', 'anthropic-messages'],
  ['openai-responses', 'anthropic-messages'],
  ['openai-responses', 'openai-chat'],
  ['anthropic-messages', 'openai-chat'],
])('a caller of %s learns from a provider that speaks %s how much of the output are thoughts', (caller, to) => {
  const text = STREAMS[to].map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
  expect(thoughtsIn(translation(caller, to).toAnswer(ANSWERS[to]))).toEqual([7]);
  expect(translatedEvents(translation(caller, to), text).flatMap(thoughtsIn)).toEqual([7]);
});

function translation(caller: DialectSlug, to: TranslatedDialect): Translation {
  const translator = translatorFor(caller, (dialect) => dialect === to);
  if (translator === undefined) throw new Error('no translator');
  const ask = { messages: [], input: 'Hi', stream_options: { include_usage: true } };
  return translator.translate({ model: 'm', max_tokens: 9, ...ask }, TARGET);
}

/** Wherever they stand. */
function thoughtsIn(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value.flatMap(thoughtsIn);
  if (!isObject(value)) return [];
  const { reasoning_tokens: openai, thinking_tokens: anthropic } = value;
  return [...[openai, anthropic].filter((each) => each !== undefined), ...Object.values(value).flatMap(thoughtsIn)];
}
