import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { REPORT_KEYS_TEXT } from '../src/usage/report-keys.js';
import { COST, errorOf, startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

const GUIDE = readFileSync(new URL('../docs/guides/usage-limits.md', import.meta.url), 'utf8');

let gateway: UsageGateway;

beforeAll(async () => {
  gateway = await startUsageGateway();
  await gateway.reset();
});
afterAll(() => gateway.close());

function blocks(language: string): readonly string[] {
  return [...GUIDE.matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 'gs'))].map(([, text = '']) => text);
}

describe('the guide to usage limits', () => {
  it("enforces the guide's policy with its documented refusal, and answers its report", async () => {
    const [make = '', report = ''] = blocks('sh');
    const [, body = '{}'] = /-d '(.*)'/s.exec(make) ?? [];
    const policy = { ...JSON.parse(body), credit_limit: COST, alert_threshold: null };
    await gateway.admin.create('/v1/policies/usage-limits', JSON.parse(body));
    await gateway.admin.create('/v1/policies/usage-limits', policy);
    const headers = { 'x-gateway-metadata': '{"team":"search","user":"alice"}' };
    expect((await gateway.call({ headers })).status).toBe(200);
    await gateway.books.ledger(1);
    const refused = await gateway.call({ headers });
    expect(refused.status).toBe(412);

    const [head = ''] = blocks('http');
    for (const [, name = ''] of head.matchAll(/^(x-[a-z-]+):/gm)) expect(refused.headers).toHaveProperty(name);
    const [shown = '{}'] = blocks('json');
    const { error } = JSON.parse(shown);
    expect(Object.keys(errorOf(refused))).toEqual(Object.keys(error));
    expect(errorOf(refused)['message']).toBe(error.message);
    const details = JSON.parse(refused.text).error.details;
    expect(Object.keys(details[0])).toEqual(Object.keys(error.details[0]));

    const query = [...report.matchAll(/-d (\S+)/g)].map(([, pair]) => pair).join('&');
    const [period] = await gateway.admin.list(`/v1/usage?${query}`);
    expect(period).toMatchObject({ calls: 1, group: { model: 'rerank-v3.5', 'metadata.team': 'search' } });
  });

  it('documents all keys that group usage', () => {
    for (const key of REPORT_KEYS_TEXT.split(/, | or /)) expect(GUIDE).toContain(`\`${key}\``);
  });

  it('names only existing metrics in the guide', async () => {
    const { text } = await gateway.admin.get('/metrics');
    for (const [, name = ''] of GUIDE.matchAll(/`(gateway_[a-z_]+)/g)) expect(text).toContain(name);
  });
});
