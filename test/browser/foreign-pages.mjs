import assert from 'node:assert/strict';
import { logIn } from './log-in.mjs';

const ISSUE = { title: 'From a page', priority: 'low' };

/** Pages of other origins, which hold a key of their own. */
export const foreignPages = [
  {
    title:
      'A page of CORS_ORIGINS calls models with the SDKs of OpenAI and Anthropic, and reads answers, headers and errors',
    run: async (context) => {
      const page = await open(context, context.origins.friend);
      const preflights = await preflightsOf(page);
      const key = await keyOfPage(context);
      const read = await page.evaluate(callModels, { key, url: context.url });
      assert.match(read.text, /^Hello from the scripted provider/);
      assert.ok(read.events > 3, `${read.events} events`);
      assert.deepEqual(read.models.slice(0, 1), ['list']);
      assert.match(read.message, /^Hello from the scripted provider/);
      assert.deepEqual(
        [read.header.model, read.header.type, read.header.trace.length > 0],
        ['gpt-x', 'text/event-stream', true],
      );
      assert.deepEqual(read.refused, { name: 'AuthenticationError', status: 401, code: 'api_key_invalid' });
      assert.deepEqual(read.unknown, { name: 'NotFoundError', status: 404, code: 'model_not_found' });
      assert.equal(read.ofProvider.status, 404);
      assert.ok(read.ofProvider.trace.length > 0, 'the trace of an error');
      // The browser drops what it has not read yet when the connection ends: then it is its own error.
      assert.ok(['APIError', 'TypeError'].includes(read.broken), read.broken);
      assert.deepEqual([...new Set(preflights.map(({ status }) => status))], [204]);
      const asked = new Set(preflights.map(({ path }) => path));
      assert.deepEqual(asked, new Set(['/v1/chat/completions', '/v1/messages', '/v1/models']));
    },
  },
  {
    title: 'A page of another origin can call nothing, and no page can use the API or the session of an administrator',
    run: async (context) => {
      const { tabs, page: address, adminKey, url, origins } = context;
      await logIn(tabs, address, adminKey);
      const key = await keyOfPage(context);
      const stranger = await open(context, origins.stranger);
      const preflights = await preflightsOf(stranger);
      const refused = await stranger.evaluate(tryAsStranger, { key, url });
      assert.deepEqual(refused, { sdk: 'APIConnectionError', fetch: 'TypeError', simple: 'TypeError' });
      assert.deepEqual([...new Set(preflights.map(({ status }) => status))], [403]);
      const friend = await open(context, origins.friend);
      assert.deepEqual(await friend.evaluate(tryAdministration, { key: adminKey, url }), {
        withKey: 'TypeError',
        withCookie: 'TypeError',
        chatWithCookie: 'TypeError',
      });
    },
  },
  {
    title: "A page of a server's allowed_origins lists and calls tools with the client of MCP, and no other page does",
    run: async (context) => {
      const { ask, toolsUrl, url, origins } = context;
      const server = { name: 'For pages', slug: 'for-pages', url: toolsUrl, allowed_origins: [origins.friend] };
      const issuer = 'https://idp.example.com';
      const jwt_validation = { jwksUri: `${issuer}/jwks`, issuer, advertise_issuer: true };
      await ask('/v1/mcp-servers', { ...server, jwt_validation });
      const key = await context.keyWith(['mcp.invoke']);
      const friend = await open(context, origins.friend);
      const preflights = await preflightsOf(friend);
      const read = await friend.evaluate(useTools, { key, url, issue: ISSUE });
      assert.deepEqual(read.tools, ['create_issue', 'delete_issue', 'find_issues']);
      assert.equal(read.result, `created ${JSON.stringify(ISSUE)}`);
      assert.deepEqual(read.failed, { isError: true, text: 'the issue is locked' });
      assert.equal(read.hasSession, true);
      assert.equal(read.refused.status, 401);
      assert.match(read.refused.challenge, /resource_metadata="/);
      assert.equal(new URL(read.refused.resource).pathname, '/for-pages/mcp');
      assert.ok(preflights.length > 0);
      assert.deepEqual([...new Set(preflights.map(({ status }) => status))], [204]);
      const stranger = await open(context, origins.stranger);
      assert.equal(await stranger.evaluate(tryTools, { key, url }), 'TypeError');
    },
  },
];

async function open({ tabs }, origin) {
  const page = await tabs.newPage();
  await page.goto(origin);
  await page.waitForFunction(() => window.clients !== undefined);
  return page;
}

/** A key that a page may hold. */
async function keyOfPage({ ask, providerUrl }) {
  const slug = `page-${Math.random().toString(36).slice(2)}`;
  await ask('/v1/virtual-keys', { name: slug, slug, provider: 'openai-compatible', config: { base_url: providerUrl } });
  const scopes = ['completions.write'];
  const bounds = { allowed_virtual_keys: [slug], default_virtual_key: slug };
  return (await ask('/v1/api-keys', { name: 'of a page', level: 'organisation', scopes, ...bounds })).key;
}

/** What the browser asks before the requests of a page. Playwright itself does not show it. */
async function preflightsOf(page) {
  const session = await page.context().newCDPSession(page);
  const preflights = [];
  session.on('Network.responseReceived', ({ type, response: { url, status } }) => {
    if (type === 'Preflight') preflights.push({ path: new URL(url).pathname, status });
  });
  await session.send('Network.enable');
  return preflights;
}

// What follows runs in the page.

async function callModels({ key, url }) {
  const { OpenAI, Anthropic } = window.clients;
  const options = { dangerouslyAllowBrowser: true, maxRetries: 0 };
  const ask = { model: 'gpt-x', messages: [{ role: 'user', content: 'Hello' }] };
  const openaiWith = (apiKey) => new OpenAI({ ...options, apiKey, baseURL: `${url}/v1` });
  const chat = (more, apiKey = key) => openaiWith(apiKey).chat.completions.create({ ...ask, ...more });
  const anthropic = new Anthropic({ ...options, apiKey: key, baseURL: url });
  const errorOf = async (call) => {
    try {
      await call();
      return undefined;
    } catch ({ constructor, status, code, headers }) {
      return { name: constructor.name, status, code, trace: headers?.get('x-gateway-trace-id') };
    }
  };
  const shortly = async (call) => {
    const { name, status, code } = await errorOf(call);
    return { name, status, code };
  };
  const { data, response } = await chat({ stream: true }).withResponse();
  let text = '';
  let events = 0;
  for await (const chunk of data) {
    text += chunk.choices[0]?.delta?.content ?? '';
    events += 1;
  }
  const message = await anthropic.messages.stream({ ...ask, max_tokens: 50 }).finalText();
  const broken = await errorOf(async () => {
    const cut = await chat({ model: 'breaks-off', stream: true });
    await new Response(cut.toReadableStream()).text();
  });
  return {
    text,
    events,
    message,
    models: [(await openaiWith(key).models.list()).object],
    header: {
      model: response.headers.get('x-gateway-model'),
      type: response.headers.get('content-type')?.split(';')[0],
      trace: response.headers.get('x-gateway-trace-id'),
    },
    refused: await shortly(() => chat({}, 'tg_wrong')),
    unknown: await shortly(() => chat({ model: '@missing/gpt-x' })),
    ofProvider: await errorOf(() => chat({ model: 'unknown' })),
    broken: broken.name,
  };
}

async function tryAsStranger({ key, url }) {
  const { OpenAI } = window.clients;
  const client = new OpenAI({ apiKey: key, baseURL: `${url}/v1`, dangerouslyAllowBrowser: true, maxRetries: 0 });
  const body = { model: 'gpt-x', messages: [{ role: 'user', content: 'Hello' }] };
  const nameOf = (call) =>
    call.then(
      () => 'an answer',
      ({ constructor }) => constructor.name,
    );
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  return {
    sdk: await nameOf(client.chat.completions.create(body)),
    fetch: await nameOf(fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body: JSON.stringify(body) })),
    // No preflight comes before it.
    simple: await nameOf(fetch(`${url}/v1/models`)),
  };
}

async function tryAdministration({ key, url }) {
  const nameOf = (path, options) =>
    fetch(url + path, options).then(
      ({ status }) => `answer ${status}`,
      ({ constructor }) => constructor.name,
    );
  return {
    withKey: await nameOf('/v1/api-keys', { headers: { authorization: `Bearer ${key}` } }),
    withCookie: await nameOf('/v1/me', { credentials: 'include' }),
    chatWithCookie: await nameOf('/v1/models', { credentials: 'include' }),
  };
}

async function useTools({ key, url, issue }) {
  const { Client, StreamableHTTPClientTransport } = window.clients;
  const address = new URL('/for-pages/mcp', url);
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  const client = new Client({ name: 'a page', version: '1.0.0' });
  const transport = new StreamableHTTPClientTransport(address, { requestInit });
  await client.connect(transport);
  const { tools } = await client.listTools();
  const created = await client.callTool({ name: 'create_issue', arguments: issue });
  const failed = await client.callTool({ name: 'delete_issue', arguments: {} });
  const hasSession = transport.sessionId !== undefined;
  await transport.terminateSession();
  await client.close();
  const anonymous = await fetch(address, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  const challenge = anonymous.headers.get('www-authenticate');
  const place = /resource_metadata="([^"]+)"/.exec(challenge)[1];
  const metadata = await fetch(place, { headers: { 'mcp-protocol-version': '2025-06-18' } });
  return {
    tools: tools.map(({ name }) => name).sort(),
    result: created.content[0].text,
    failed: { isError: failed.isError, text: failed.content[0].text },
    hasSession,
    refused: { status: anonymous.status, challenge, resource: (await metadata.json()).resource },
  };
}

async function tryTools({ key, url }) {
  const { Client, StreamableHTTPClientTransport } = window.clients;
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  const client = new Client({ name: 'a page', version: '1.0.0' });
  const transport = new StreamableHTTPClientTransport(new URL('/for-pages/mcp', url), { requestInit });
  return client.connect(transport).then(
    () => 'an answer',
    ({ constructor }) => constructor.name,
  );
}
