// Pages of other origins, which call providers through the gateway from a browser.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readString } from '../src/common/json/read.js';
import { json } from './support/fake-provider.js';
import { type RerankGateway, startRerankGateway } from './support/rerank-gateway.js';
import { fill, routesOf } from './support/routes.js';
import { type Answer, jsonOf, refusalOf, send } from './support/send.js';
import { ADMIN_KEY } from './support/test-app.js';

const PAGE = 'https://app.example.com';
const OTHERS = ['https://app.example.com.evil.org', 'https://app.example.com:8443', 'http://app.example.com', 'null'];
const CHAT = '/v1/chat/completions';
/** As the SDKs of OpenAI and Anthropic send them. */
const SDK_HEADERS = 'authorization,content-type,x-stainless-lang,anthropic-dangerous-direct-browser-access,x-api-key';

let gateway: RerankGateway;
let slug: string;

beforeAll(async () => {
  gateway = await startRerankGateway({ CORS_ORIGINS: `${PAGE}, app://obsidian.md` });
  slug = await gateway.virtualKey('openai-compatible');
  gateway.provider.replyWith(json({ choices: [] }));
});
afterAll(() => gateway.close());

function preflight(path: string, origin: string, method = 'POST', asked = SDK_HEADERS): Promise<Answer> {
  const headers = { origin, 'access-control-request-method': method, 'access-control-request-headers': asked };
  return send(gateway.app.url + path, { method: 'OPTIONS', headers });
}

function chat(origin: string, key = ADMIN_KEY): Promise<Answer> {
  const headers = { origin, authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ model: `@${slug}/m`, messages: [], max_tokens: 1 });
  return send(gateway.app.url + CHAT, { headers, body });
}

const allowed = (answer: Answer): unknown => answer.headers['access-control-allow-origin'];

describe('a page of one of CORS_ORIGINS', () => {
  it('may send what SDKs send, and read the answer and its headers', async () => {
    for (const origin of [PAGE, 'app://obsidian.md']) {
      const asked = await preflight(CHAT, origin);
      expect([asked.status, asked.headers]).toMatchObject([
        204,
        {
          'access-control-allow-origin': origin,
          'access-control-allow-methods': 'POST',
          'access-control-allow-headers': SDK_HEADERS.replaceAll(',', ', '),
          'access-control-max-age': '7200',
          vary: 'Origin, Access-Control-Request-Headers',
        },
      ]);
      const answer = await chat(origin);
      expect([answer.status, allowed(answer)]).toEqual([200, origin]);
      expect(answer.headers['access-control-expose-headers']).toBe('*');
    }
  });

  it('may read why it is refused', async () => {
    const refused = await chat(PAGE, 'tg_wrong');
    expect([refused.status, allowed(refused)]).toEqual([401, PAGE]);
  });

  it('may call every address of a provider, by each of its methods', async () => {
    const tried = await Promise.all(
      routesOf(gateway.app.app)
        .filter(({ isForKeysOnly }) => isForKeysOnly)
        .map(async ({ method, path }) => {
          const answer = await preflight(fill(path, 'x'), PAGE, method);
          const methods = String(answer.headers['access-control-allow-methods']).split(', ');
          return answer.status === 204 && methods.includes(method) ? [] : [`${method} ${path}`];
        }),
    );
    expect(tried.length).toBeGreaterThan(60);
    expect(tried.flat()).toEqual([]);
  });

  it('may not use the API of administrators', async () => {
    const tried = await Promise.all(
      routesOf(gateway.app.app)
        .filter(({ isForKeysOnly, path }) => !isForKeysOnly && path.startsWith('/v1'))
        .map(async ({ method, path }) => {
          const answer = await preflight(fill(path, 'x'), PAGE, method);
          return allowed(answer) === undefined ? [] : [`${method} ${path}`];
        }),
    );
    expect(tried.length).toBeGreaterThan(60);
    expect(tried.flat()).toEqual([]);
    const headers = { origin: PAGE, authorization: `Bearer ${ADMIN_KEY}` };
    expect(allowed(await send(`${gateway.app.url}/v1/api-keys`, { method: 'GET', headers }))).toBeUndefined();
  });

  it('is never let in with cookies', async () => {
    for (const answer of [await preflight(CHAT, PAGE), await chat(PAGE)]) {
      expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
    }
    const login = await send(`${gateway.app.url}/v1/sessions`, { headers: { 'x-gateway-api-key': ADMIN_KEY } });
    const cookie = String(login.headers['set-cookie']).split(';', 1).join();
    const headers = { cookie, 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' };
    const ofConsole = { ...headers, 'x-gateway-csrf-token': readString(jsonOf(login)['csrf_token'], 'csrf_token') };
    const body = JSON.stringify({ model: `@${slug}/m`, messages: [] });
    const call = async (own: Readonly<Record<string, string>>): Promise<number> =>
      (await send(gateway.app.url + CHAT, { headers: own, body })).status;
    // The page of the gateway itself may, which shows that the session is a right one.
    expect(await call(ofConsole)).toBe(200);
    expect(await call({ ...headers, origin: PAGE })).toBe(403);
    expect(await call({ ...ofConsole, origin: PAGE, 'sec-fetch-site': 'cross-site' })).toBe(403);
  });

  it('gets back no name of a header that is none', async () => {
    const odd = ['x y', 'a:b', 'x'.repeat(129), 'fine', ''].join(',');
    expect((await preflight(CHAT, PAGE, 'POST', odd)).headers['access-control-allow-headers']).toBe('fine');
    const many = Array.from({ length: 1_000 }, (_, index) => `h${index}`).join(',');
    const names = (await preflight(CHAT, PAGE, 'POST', many)).headers['access-control-allow-headers'];
    expect(String(names).split(', ')).toHaveLength(64);
  });
});

describe('a page of another origin', () => {
  it.each(OTHERS)('is refused, and reads nothing: %s', async (origin) => {
    const refused = await preflight(CHAT, origin);
    expect(refusalOf(refused)).toMatchObject({ status: 403, code: 'permission_denied' });
    expect([allowed(refused), allowed(await chat(origin))]).toEqual([undefined, undefined]);
  });

  it('has no preflight at an address that does not exist', async () => {
    expect((await preflight('/v1/nothing', PAGE)).status).toBe(404);
  });
});
