// Model routes that cap what their calls write, by a number or by what usage limits have room for.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { readObject } from '../src/common/json/read.js';
import { json, onlyCall, type Reply } from './support/fake-provider.js';
import { type Answer, refusalOf, send } from './support/send.js';
import { ADMIN_KEY } from './support/test-app.js';
import { startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

const LIMIT = 5_000;
const HEADER = 'x-gateway-max-tokens';

let gateway: UsageGateway;
let compatible: string;
let openai: string;
let names = 0;

/** An answer with this usage, in the form of the call. */
function answered(input: number, output: number): Reply {
  return (response, call) => {
    const tokens = { input_tokens: input, output_tokens: output };
    const usage = /\/(?:responses|messages)/.test(call.path)
      ? tokens
      : { prompt_tokens: input, completion_tokens: output };
    json({ choices: [], usage })(response, call);
  };
}

beforeAll(async () => {
  gateway = await startUsageGateway();
  compatible = await gateway.virtualKey('openai-compatible');
  openai = await gateway.virtualKey('openai');
});
beforeEach(async () => {
  await gateway.reset();
  gateway.provider.forget();
  gateway.provider.replyWith(answered(10, 20));
});
afterAll(() => gateway.close());

async function route(fields: object, virtualKey = compatible): Promise<string> {
  names += 1;
  const name = `route-${names}`;
  await gateway.admin.create('/v1/model-routes', {
    name,
    targets: [{ virtual_key: virtualKey, model: 'm' }],
    ...fields,
  });
  return name;
}

function ask(path: string, body: object): Promise<Answer> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${ADMIN_KEY}` };
  return send(gateway.app.url + path, { headers, body: JSON.stringify(body) });
}

function sent(): Record<string, unknown> {
  return readObject(JSON.parse(onlyCall(gateway.provider).body), 'the body');
}

const CHAT = '/v1/chat/completions';
const FORMS = [
  { path: CHAT, cap: 'max_tokens', more: { messages: [] } },
  { path: CHAT, cap: 'max_completion_tokens', more: { messages: [] } },
  { path: '/v1/completions', cap: 'max_tokens', more: { prompt: 'Hi' } },
  { path: '/v1/responses', cap: 'max_output_tokens', more: { input: 'Hi' } },
  { path: '/v1/messages', cap: 'max_tokens', more: { messages: [] } },
] as const;

describe('the cap of a model route', () => {
  it.each(FORMS)('takes the place of a higher $cap at $path', async ({ path, cap, more }) => {
    const model = await route({ max_output_tokens: 50 });
    const answer = await ask(path, { model, [cap]: 51, x: 1.5, ...more });
    expect([answer.status, answer.headers[HEADER]]).toEqual([200, '50']);
    expect(sent()).toEqual({ model: 'm', [cap]: 50, x: 1.5, ...more });
  });

  it.each(FORMS)('leaves a lower $cap at $path', async ({ path, cap, more }) => {
    const model = await route({ max_output_tokens: 50 });
    const answer = await ask(path, { model, [cap]: 50, ...more });
    expect([answer.status, answer.headers[HEADER]]).toEqual([200, undefined]);
    expect(sent()).toEqual({ model: 'm', [cap]: 50, ...more });
  });

  it.each([
    ['max_tokens', 'a compatible server', CHAT, () => compatible],
    ['max_completion_tokens', 'OpenAI', CHAT, () => openai],
    ['max_output_tokens', 'OpenAI', '/v1/responses', () => openai],
  ])('is sent as %s to %s where a call has none, which then has a bound', async (cap, _who, path, virtualKey) => {
    await gateway.limit({ type: 'tokens', credit_limit: LIMIT });
    const model = await route({ max_output_tokens: 50 }, virtualKey());
    const answer = await ask(path, { model, ...(path === CHAT ? { messages: [] } : { input: 'Hi' }) });
    expect([answer.status, answer.headers[HEADER]]).toEqual([200, '50']);
    expect(sent()).toMatchObject({ model: 'm', [cap]: 50 });
  });

  it('is the higher of two caps of a chat, both lowered', async () => {
    const model = await route({ max_output_tokens: 50 });
    await ask(CHAT, { model, max_tokens: 60, max_completion_tokens: null, messages: [] });
    expect(sent()).toMatchObject({ max_tokens: 50, max_completion_tokens: 50 });
  });

  it('is not on the refusal of a call that was not sent', async () => {
    await gateway.limit({ type: 'tokens', credit_limit: 60 });
    const answer = await ask(CHAT, { model: await route({ max_output_tokens: 50 }), max_tokens: 99, messages: [] });
    expect(refusalOf(answer)).toMatchObject({ status: 412, code: 'usage_limit_exceeded' });
    expect(answer.headers[HEADER]).toBeUndefined();
  });

  it('is on an error of the provider', async () => {
    gateway.provider.replyWith(json({ error: { message: 'no' } }, 400));
    const answer = await ask(CHAT, { model: await route({ max_output_tokens: 50 }), max_tokens: 99, messages: [] });
    expect([answer.status, answer.headers[HEADER]]).toEqual([400, '50']);
  });

  it.each([0, 1.5, 10_000_001, '50'])('cannot be %j', async (max_output_tokens) => {
    const targets = [{ virtual_key: compatible, model: 'm' }];
    const answer = await gateway.admin.post('/v1/model-routes', { name: 'refused', targets, max_output_tokens });
    expect(refusalOf(answer)).toMatchObject({ status: 400, param: 'max_output_tokens' });
  });
});

describe('a model route that clamps outputs', () => {
  it.each(FORMS)('lowers $cap at $path to what the usage limit has room for', async ({ path, cap, more }) => {
    await gateway.limit({ type: 'tokens', credit_limit: LIMIT });
    const model = await route({ clamp_output: true });
    const answer = await ask(path, { model, [cap]: 20_000, ...more });
    const lowered = Number(answer.headers[HEADER]);
    expect([answer.status, sent()[cap]]).toEqual([200, lowered]);
    // What is left is the input: a hundred bytes or so, and the frame of a conversation.
    expect(lowered).toBeLessThan(LIMIT);
    expect(lowered).toBeGreaterThan(LIMIT - 400);
    expect(await gateway.books.ledger(1)).toMatchObject([{ quantities: { input: 10, output: 20 } }]);
    expect(await gateway.books.faults()).toEqual([]);
  });

  it('shares the room among the answers of a call', async () => {
    await gateway.limit({ type: 'tokens', credit_limit: LIMIT });
    const model = await route({ clamp_output: true });
    const answer = await ask(CHAT, { model, max_tokens: 20_000, n: 3, messages: [] });
    expect(answer.status).toBe(200);
    expect(Number(answer.headers[HEADER]) * 3).toBeLessThan(LIMIT);
    expect(Number(answer.headers[HEADER]) * 3).toBeGreaterThan(LIMIT - 400);
  });

  it('counts dollars at the prices of the model, and the smallest room of several limits', async () => {
    for (const [unit, price] of [
      ['input', '0.000001'],
      ['output', '0.00001'],
    ]) {
      await gateway.admin.create('/v1/prices', { provider: 'openai-compatible', model: 'm', unit, price });
    }
    await gateway.limit({ type: 'cost', credit_limit: 0.02 });
    await gateway.limit({ type: 'tokens', credit_limit: LIMIT });
    const model = await route({ clamp_output: true });
    const answer = await ask(CHAT, { model, max_tokens: 20_000, messages: [] });
    expect(answer.status).toBe(200);
    expect(Number(answer.headers[HEADER])).toBeLessThan(2_000);
    expect(Number(answer.headers[HEADER])).toBeGreaterThan(1_900);
  });

  it('refuses a call for which less than 1,024 tokens are left', async () => {
    await gateway.limit({ type: 'tokens', credit_limit: 1_100 });
    const model = await route({ clamp_output: true });
    const answer = await ask(CHAT, { model, max_tokens: 20_000, messages: [] });
    expect(refusalOf(answer)).toMatchObject({ status: 412, code: 'usage_limit_exceeded' });
    expect(answer.headers[HEADER]).toBeUndefined();
    expect(gateway.provider.calls).toEqual([]);
  });

  it('refuses a message whose thoughts would have more than what is left', async () => {
    await gateway.limit({ type: 'tokens', credit_limit: LIMIT });
    const model = await route({ clamp_output: true });
    const thinking = { type: 'enabled', budget_tokens: LIMIT };
    const answer = await ask('/v1/messages', { model, max_tokens: 20_000, thinking, messages: [] });
    expect(answer.status).toBe(412);
    expect(gateway.provider.calls).toEqual([]);
  });

  it('leaves a call alone that fits, and one of a route that does not clamp', async () => {
    await gateway.limit({ type: 'tokens', credit_limit: LIMIT });
    const fitting = await ask(CHAT, { model: await route({ clamp_output: true }), max_tokens: 2_000, messages: [] });
    expect([fitting.status, fitting.headers[HEADER], sent()['max_tokens']]).toEqual([200, undefined, 2_000]);
    const refused = await ask(CHAT, { model: await route({}), max_tokens: 20_000, messages: [] });
    expect(refusalOf(refused)).toMatchObject({ status: 412, code: 'usage_limit_exceeded' });
  });

  it('never lets calls at once use more than the limit', async () => {
    await gateway.limit({ type: 'tokens', credit_limit: LIMIT });
    gateway.provider.replyWith((response, call) => {
      const { max_tokens } = readObject(JSON.parse(call.body), 'the body');
      answered(10, Number(max_tokens))(response, call);
    });
    const model = await route({ clamp_output: true });
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => ask(CHAT, { model, max_tokens: 2_500, messages: [] })),
    );
    const rows = await gateway.books.ledger(answers.filter(({ status }) => status === 200).length);
    const used = rows.reduce(
      (sum, { quantities }) => sum + Number(quantities['input']) + Number(quantities['output']),
      0,
    );
    expect(used).toBeLessThanOrEqual(LIMIT);
    expect(rows.length).toBeGreaterThanOrEqual(2);
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused).not.toEqual([]);
    expect(refused.filter(({ headers }) => headers[HEADER] !== undefined)).toEqual([]);
    expect(await gateway.books.faults()).toEqual([]);
  });
});
