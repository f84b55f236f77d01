// Which organisation and project of OpenAI a call is for: those of its virtual key, or those that its caller names.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { json, onlyCall } from './support/fake-provider.js';
import { type RerankGateway, startRerankGateway } from './support/rerank-gateway.js';
import { type Answer, refusalOf, send } from './support/send.js';
import { ADMIN_KEY } from './support/test-app.js';

const NAMED = { 'OpenAI-Organization': 'org-caller', 'OpenAI-Project': 'proj-caller' };

let gateway: RerankGateway;
let plain: string;
let passing: string;
let own: string;

beforeAll(async () => {
  gateway = await startRerankGateway();
  plain = await gateway.virtualKey('openai');
  passing = await gateway.virtualKey('openai', { config: { caller_account: 'pass' } });
  own = await gateway.virtualKey('openai', { config: { caller_account: 'pass', organization: 'org-own' } });
});
beforeEach(() => {
  gateway.provider.forget();
  gateway.provider.replyWith(json({ choices: [], usage: {}, data: [], object: 'list' }));
});
afterAll(() => gateway.close());

const CHAT = { path: '/v1/chat/completions', body: '{"model":"gpt-4o","messages":[]}' };
const BATCHES = { path: '/v1/batches' };

function ask(
  slug: string,
  { path, body }: { path: string; body?: string },
  more: Readonly<Record<string, string>> = NAMED,
): Promise<Answer> {
  const headers = { authorization: `Bearer ${ADMIN_KEY}`, 'x-gateway-virtual-key': slug, ...more };
  if (body === undefined) return send(gateway.app.url + path, { method: 'GET', headers });
  return send(gateway.app.url + path, { headers: { ...headers, 'content-type': 'application/json' }, body });
}

function sent(): readonly unknown[] {
  const { headers } = onlyCall(gateway.provider);
  return [headers['openai-organization'], headers['openai-project']];
}

describe.each([
  ['a chat', CHAT],
  ['a list of batches', BATCHES],
])('the organisation and project of %s', (_what, call) => {
  it('are not those of the caller by default', async () => {
    expect((await ask(plain, call)).status).toBe(200);
    expect(sent()).toEqual([undefined, undefined]);
  });

  it('are those of the caller where the virtual key passes them', async () => {
    expect((await ask(passing, call)).status).toBe(200);
    expect(sent()).toEqual(['org-caller', 'proj-caller']);
  });

  it('are those of the virtual key where it has some', async () => {
    expect((await ask(own, call)).status).toBe(200);
    expect(sent()).toEqual(['org-own', 'proj-caller']);
  });

  it('are left out where the caller names none', async () => {
    expect((await ask(passing, call, { 'OpenAI-Project': '' })).status).toBe(200);
    expect(sent()).toEqual([undefined, undefined]);
  });

  it.each(['two words', 'é', 'x'.repeat(256)])('cannot be %j', async (value) => {
    const answer = await ask(passing, call, { 'OpenAI-Project': value });
    expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'validation_failed', param: 'OpenAI-Project' });
    expect(gateway.provider.calls).toEqual([]);
  });
});
