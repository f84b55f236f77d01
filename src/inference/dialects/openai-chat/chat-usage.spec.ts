import { describe, expect, it } from '@jest/globals';
import { readChatUsage, usageMemberOf } from './chat-usage.js';

describe('readChatUsage', () => {
  it('counts each token in one unit', () => {
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 50,
      prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 10, audio_tokens: 5 },
      completion_tokens_details: { reasoning_tokens: 30, audio_tokens: 20, image_tokens: 4 },
    };
    expect(readChatUsage(usage)).toEqual({
      input: 25,
      cache_read: 60,
      cache_write_5m: 10,
      input_audio: 5,
      output: 26,
      output_audio: 20,
      output_image: 4,
    });
  });

  it('does not know what a server gives as less than nothing, so that the bound counts', () => {
    expect(readChatUsage({ prompt_tokens: -1, completion_tokens: -1, total_tokens: -1 })).toEqual({});
  });

  it.each([-50, 1e300])('counts %d tokens of a part as those of its total, since it cannot be true', (part) => {
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 50,
      prompt_tokens_details: { cached_tokens: part },
      completion_tokens_details: { audio_tokens: part },
    };
    expect(readChatUsage(usage)).toMatchObject({ input: 10, output: 50 });
  });

  it.each([
    [
      { prompt_tokens: 3, completion_tokens: 0 },
      { input: 3, output: 0 },
    ],
    [
      { prompt_tokens: 3, prompt_tokens_details: { cached_tokens: 9 } },
      { input: 0, cache_read: 9 },
    ],
    [{ prompt_tokens: 3, prompt_tokens_details: null }, { input: 3 }],
    [
      {
        prompt_tokens: 30,
        prompt_tokens_details: {
          cached_tokens: 4,
          cache_creation_tokens: 9,
          cache_creation_token_details: { ephemeral_5m_input_tokens: 7, ephemeral_1h_input_tokens: 2 },
        },
      },
      { input: 17, cache_read: 4, cache_write_5m: 7, cache_write_1h: 2 },
    ],
    [
      {
        prompt_tokens: 30,
        prompt_tokens_details: { cache_write_tokens: 5, cache_creation_tokens: 9, cache_creation_token_details: null },
      },
      { input: 25, cache_write_5m: 5 },
    ],
    [
      { prompt_tokens: 30, prompt_cache_hit_tokens: 10, prompt_cache_miss_tokens: 20 },
      { input: 20, cache_read: 10 },
    ],
    [
      { prompt_tokens: 30, cached_tokens: 10, prompt_tokens_details: { cached_tokens: null } },
      { input: 20, cache_read: 10 },
    ],
    [
      { prompt_tokens: 30, cached_tokens: 10, prompt_tokens_details: { cached_tokens: 0 } },
      { input: 30, cache_read: 0 },
    ],
    [
      { prompt_tokens: 3, completion_tokens: 2, total_tokens: 9 },
      { input: 3, output: 6 },
    ],
    [
      { prompt_tokens: 3, completion_tokens: 2, total_tokens: 4 },
      { input: 3, output: 2 },
    ],
    [{ prompt_tokens: -3, completion_tokens: 2 }, { output: 2 }],
  ])('reads %j', (usage, expected) => expect(JSON.parse(JSON.stringify(readChatUsage(usage)))).toEqual(expected));

  it.each([[undefined], [null], [[]], [{}], [{ prompt_tokens: '3' }]])('finds none in %j', (usage) => {
    expect(readChatUsage(usage)).toBeUndefined();
  });
});

const FIGURES = { prompt_tokens: 1 };

it.each([
  [{ usage: FIGURES, x_groq: { usage: {} } }, FIGURES],
  [{ usage: null, x_groq: { id: 'req_1', usage: FIGURES }, choices: [{}] }, FIGURES],
  [{ choices: [{ index: 0, usage: FIGURES }] }, FIGURES],
  [{ choices: [{ index: 0, delta: { usage: FIGURES } }] }, undefined],
  [{ choices: [], x_groq: null }, undefined],
])('usageMemberOf finds the usage of %j', (message, usage) => expect(usageMemberOf(message)).toEqual(usage));
