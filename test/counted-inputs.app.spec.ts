// Calls whose input has fewer tokens than bytes, under usage limits that only the tokens fit into.
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { readObject } from '../src/common/json/read.js';
import { TokenCounter } from '../src/inference/token-counts/token-counter.js';
import { eventually } from './support/eventually.js';
import { json } from './support/fake-provider.js';
import { type Answer, refusalOf, send } from './support/send.js';
import { ADMIN_KEY } from './support/test-app.js';
import { startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

const PROSE = 'The quick brown fox jumps over the lazy dog, and then it sleeps. '.repeat(100);
/** 1,501 tokens of 6,500 bytes. */
const LIMIT = 3_000;
const CHAT = '/v1/chat/completions';
const WARM = Buffer.from('{"prompt":"a text to begin with"}');

let gateway: UsageGateway;
let openai: string;
let compatible: string;
let counted: jest.SpiedFunction<TokenCounter['savedTokens']>;

beforeAll(async () => {
  gateway = await startUsageGateway();
  openai = await gateway.virtualKey('openai');
  compatible = await gateway.virtualKey('openai-compatible');
  const counter = gateway.app.app.get(TokenCounter, { strict: false });
  // A busy machine may take longer to start the thread than a call waits.
  for (const encoding of ['o200k_base', 'cl100k_base'] as const) {
    await eventually(async () => (await counter.savedTokens('o', WARM, encoding)) !== undefined);
  }
  counted = jest.spyOn(counter, 'savedTokens');
});
beforeEach(async () => {
  await gateway.reset();
  counted.mockClear();
  gateway.provider.forget();
  gateway.provider.replyWith(json({ choices: [], usage: { prompt_tokens: 1_408, completion_tokens: 10 } }));
});
afterAll(() => gateway.close());

function ask(path: string, body: object): Promise<Answer> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${ADMIN_KEY}` };
  return send(gateway.app.url + path, { headers, body: JSON.stringify(body) });
}

function chat(content: string, more: object = {}): Promise<Answer> {
  return ask(CHAT, { model: `@${openai}/gpt-4o`, max_tokens: 100, messages: [{ role: 'user', content }], ...more });
}

describe('a call whose bytes do not fit into a usage limit', () => {
  it.each([
    ['a chat', CHAT, { model: 'gpt-4o', max_tokens: 100, messages: [{ role: 'user', content: PROSE }] }],
    ['a response', '/v1/responses', { model: 'gpt-5', max_output_tokens: 100, input: PROSE }],
    ['a completion', '/v1/completions', { model: 'gpt-3.5-turbo-instruct', max_tokens: 100, prompt: PROSE }],
    ['an embedding', '/v1/embeddings', { model: 'text-embedding-3-small', input: [PROSE] }],
  ])('passes as %s when its tokens do', async (_what, path, body) => {
    await gateway.limit({ type: 'tokens', credit_limit: LIMIT });
    const answer = await ask(path, { ...body, model: `@${openai}/${body.model}` });
    expect(answer.status).toBe(200);
    // What is reserved is close to the tokens.
    const left = Number(answer.headers['x-gateway-limit-remaining']);
    expect(left).toBeGreaterThan(LIMIT - 1_501 - 100 - 250);
    expect(left).toBeLessThan(LIMIT - 1_501);
    expect(await gateway.books.faults()).toEqual([]);
  });

  it('reaches its provider as it came', async () => {
    await gateway.limit({ type: 'tokens', credit_limit: LIMIT });
    await chat(PROSE);
    const [call] = gateway.provider.calls;
    expect(readObject(JSON.parse(call?.body ?? ''), 'the body')).toEqual({
      model: 'gpt-4o',
      max_tokens: 100,
      messages: [{ role: 'user', content: PROSE }],
    });
    expect(await gateway.books.ledger(1)).toMatchObject([{ quantities: { input: 1_408, output: 10 } }]);
  });

  it('is refused when its tokens do not fit either', async () => {
    await gateway.limit({ type: 'tokens', credit_limit: 1_500 });
    expect(refusalOf(await chat(PROSE))).toMatchObject({ status: 412, code: 'usage_limit_exceeded' });
    expect(counted).toHaveBeenCalledTimes(1);
    expect(gateway.provider.calls).toEqual([]);
  });

  it.each([
    ['a model whose tokeniser is not known', () => `@${openai}/gpt-99`],
    ['a provider whose models may have any', () => `@${compatible}/gpt-4o`],
  ])('is refused for %s', async (_what, model) => {
    await gateway.limit({ type: 'tokens', credit_limit: LIMIT });
    expect(refusalOf(await chat(PROSE, { model: model() }))).toMatchObject({ code: 'usage_limit_exceeded' });
    expect(counted).not.toHaveBeenCalled();
  });

  it('is refused when it is not counted in time', async () => {
    await gateway.limit({ type: 'tokens', credit_limit: LIMIT });
    counted.mockResolvedValueOnce(undefined);
    expect(refusalOf(await chat(PROSE))).toMatchObject({ status: 412, code: 'usage_limit_exceeded' });
    expect(gateway.provider.calls).toEqual([]);
  });

  it('is not counted where that cannot help', async () => {
    await gateway.limit({ type: 'tokens', credit_limit: 500 });
    expect((await chat(PROSE)).status).toBe(412);
    expect(counted).not.toHaveBeenCalled();
  });

  it('gets what is left of the limit as its output cap, where its model route clamps', async () => {
    await gateway.limit({ type: 'tokens', credit_limit: LIMIT });
    const targets = [{ virtual_key: openai, model: 'gpt-4o' }];
    await gateway.admin.create('/v1/model-routes', { name: 'clamped', targets, clamp_output: true });
    const answer = await chat(PROSE, { model: 'clamped', max_tokens: 20_000 });
    expect(answer.status).toBe(200);
    const cap = Number(answer.headers['x-gateway-max-tokens']);
    expect(cap).toBeGreaterThan(LIMIT - 1_501 - 250);
    expect(cap).toBeLessThan(LIMIT - 1_501);
  });
});

it('does not count a call that fits', async () => {
  await gateway.limit({ type: 'tokens', credit_limit: 10_000 });
  expect((await chat(PROSE)).status).toBe(200);
  expect(counted).not.toHaveBeenCalled();
});

it('lets calls at once use no more than the limit, each with all of the tokens that it can have', async () => {
  // One call by its bytes, and two more by their tokens while that one runs.
  const limit = 11_000;
  await gateway.limit({ type: 'tokens', credit_limit: limit });
  gateway.provider.replyWith((response, call) => {
    const body = readObject(JSON.parse(call.body), 'the body');
    // Of each message OpenAI adds three tokens and the role, and three for the answer.
    const input = countTokens(PROSE) + 7;
    json({ choices: [], usage: { prompt_tokens: input, completion_tokens: body['max_tokens'] } })(response, call);
  });
  const answers = await Promise.all(Array.from({ length: 12 }, () => chat(PROSE)));
  const passed = answers.filter(({ status }) => status === 200);
  expect(passed.length).toBeGreaterThanOrEqual(3);
  const rows = await gateway.books.ledger(passed.length);
  const used = rows.reduce((sum, { quantities: { input, output } }) => sum + Number(input) + Number(output), 0);
  expect(used).toBeLessThanOrEqual(limit);
  expect(await gateway.books.faults()).toEqual([]);
});
