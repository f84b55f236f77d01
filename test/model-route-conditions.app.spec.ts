// Targets of model routes that take only some calls: by metadata, by size, and by what usage limits have left.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { json, text } from './support/fake-provider.js';
import { type Answer, brokenRulesOf, refusalOf } from './support/send.js';
import { startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

const PATH = '/v1/model-routes';
const ANSWER = '{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":20}}';
const GOLD = { conditions: [{ key: 'metadata.tier', value: ['gold', 'plat*'], excludes: 'platform' }] };

let gateway: UsageGateway;
let slug: string;
let made = 0;

beforeAll(async () => {
  gateway = await startUsageGateway();
  slug = await gateway.virtualKey('openai-compatible');
});
beforeEach(async () => {
  await gateway.reset();
  gateway.provider.forget();
  gateway.provider.replyWith(text(ANSWER, 'application/json'));
});
afterAll(() => gateway.close());

/** Makes a route to the model `special` under these terms, before the model `plain`; returns its name. */
async function route(terms: object, ...others: readonly object[]): Promise<string> {
  made += 1;
  const name = `conditional ${made}`;
  const targets = [{ virtual_key: slug, model: 'special', ...terms }, ...others.map(plain)];
  await gateway.admin.create(PATH, { name, targets });
  return name;
}

function plain(terms: object): object {
  return { virtual_key: slug, model: 'plain', order: 1, ...terms };
}

function chat(model: string, metadata: object = {}, content = 'hi'): Promise<Answer> {
  const body = { model, messages: [{ role: 'user', content }], max_tokens: 100 };
  return gateway.admin.post('/v1/chat/completions', body, { 'x-gateway-metadata': JSON.stringify(metadata) });
}

async function modelOf(answer: Promise<Answer>): Promise<unknown> {
  return (await answer).headers['x-gateway-model'];
}

describe('a target with conditions', () => {
  it('takes the calls that meet them, and leaves all others to the next target', async () => {
    const name = await route(GOLD, {});
    expect(await modelOf(chat(name, { tier: 'gold' }))).toBe('special');
    expect(await modelOf(chat(name, { tier: 'platinum' }))).toBe('special');
    expect(await modelOf(chat(name, { tier: 'platform' }))).toBe('plain');
    expect(await modelOf(chat(name))).toBe('plain');
  });

  it('takes no call that does not meet them when another target fails', async () => {
    const name = await route({ model: 'first' }, { ...GOLD, model: 'second' });
    gateway.provider.replyWith((response, call) => {
      const reply = call.body.includes('"first"')
        ? json({ error: { message: 'no' } }, 500)
        : text(ANSWER, 'application/json');
      return reply(response, call);
    });
    expect((await chat(name)).status).toBe(500);
    expect(await modelOf(chat(name, { tier: 'gold' }))).toBe('second');
  });

  it('refuses a call that no target takes, and names the model', async () => {
    const name = await route(GOLD);
    const answer = await chat(name, { tier: 'silver' });
    expect(refusalOf(answer)).toMatchObject({ status: 404, code: 'model_not_found', param: 'model' });
    expect(answer.text).toContain('its conditions are not met');
    expect(gateway.provider.calls).toEqual([]);
  });

  it('takes calls of the sizes that it is for', async () => {
    const name = await route({ min_estimated_tokens: 100, max_estimated_tokens: 1_000 }, {});
    expect(await modelOf(chat(name))).toBe('plain');
    expect(await modelOf(chat(name, {}, 'a'.repeat(2_000)))).toBe('special');
    expect(await modelOf(chat(name, {}, 'a'.repeat(4_000)))).toBe('plain');
  });
});

describe('a target that wants a share of the budget', () => {
  it('takes calls until the limit has less left, and the next target takes the rest', async () => {
    const name = await route({ min_budget_left: 0.5 }, {});
    await gateway.admin.create('/v1/policies/usage-limits', {
      conditions: [{ key: 'model_requested', value: name }],
      group_by: [{ key: 'metadata.team' }],
      type: 'tokens',
      credit_limit: 1_000,
    });
    gateway.provider.replyWith(text(ANSWER.replace(':10', ':501'), 'application/json'));
    expect(await modelOf(chat(name, { team: 'a' }))).toBe('special');
    await gateway.books.ledger(1);
    expect(await modelOf(chat(name, { team: 'a' }))).toBe('plain');
    expect(await modelOf(chat(name, { team: 'b' }))).toBe('special');
  });

  it('takes every call without a limit', async () => {
    expect(await modelOf(chat(await route({ min_budget_left: 1 }, {})))).toBe('special');
  });
});

describe('the terms of a target', () => {
  it('are shown as they were given', async () => {
    const terms = { ...GOLD, min_estimated_tokens: 5, max_estimated_tokens: 6, min_budget_left: 0.25, timeout_ms: 300 };
    const name = await route(terms, {});
    const [found] = await gateway.admin.list(`${PATH}?search=${encodeURIComponent(name)}`);
    const sizes = { min_estimated_tokens: null, max_estimated_tokens: null };
    const none = { conditions: [], ...sizes, min_budget_left: null, timeout_ms: null };
    expect(found).toMatchObject({ targets: [terms, none] });
  });

  it('are refused where they could not hold', async () => {
    const rules = async (terms: object): Promise<unknown> => [
      ...brokenRulesOf(
        await gateway.admin.post(PATH, { name: 'refused', targets: [{ virtual_key: slug, model: 'm', ...terms }] }),
      ),
    ];
    expect(await rules({ conditions: [{ key: 'model', value: 'x' }] })).toEqual(['targets.0.conditions.0.key']);
    expect(await rules({ conditions: [{ key: 'metadata.a' }] })).toEqual(['targets.0.conditions.0.value']);
    expect(await rules({ min_estimated_tokens: 7, max_estimated_tokens: 6 })).toEqual([
      'targets.0.max_estimated_tokens',
    ]);
    expect(await rules({ min_budget_left: 1.5 })).toEqual(['targets.0.min_budget_left']);
    for (const timeout_ms of [99, 3_600_001, 0.5, '300'])
      expect(await rules({ timeout_ms })).toEqual(['targets.0.timeout_ms']);
  });
});
