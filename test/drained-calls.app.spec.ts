// Calls of models whose clients leave.
import { request, type ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from './support/eventually.js';
import { onlyCall } from './support/fake-provider.js';
import { refusalOf } from './support/send.js';
import { ADMIN_KEY } from './support/test-app.js';
import { startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

const TEXT = 'data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n';
const USAGE = { prompt_tokens: 9, completion_tokens: 5 };
const END = `data: ${JSON.stringify({ choices: [], usage: USAGE })}\n\ndata: [DONE]\n\n`;

let gateway: UsageGateway;
/** What the provider still has to answer. */
let answers: ServerResponse[];

beforeAll(async () => {
  gateway = await startUsageGateway();
});
beforeEach(async () => {
  await gateway.reset();
  gateway.provider.forget();
  answers = [];
  gateway.provider.replyWith((response, { body }) => {
    if (body.includes('"stream":true')) response.writeHead(200, { 'content-type': 'text/event-stream' }).write(TEXT);
    answers.push(response);
  });
});
afterAll(() => gateway.close());

function virtualKey(onDisconnect?: string): Promise<string> {
  return gateway.virtualKey('openai-compatible', {
    config: onDisconnect === undefined ? {} : { on_disconnect: onDisconnect },
  });
}

/** Makes a call, and leaves when the provider has it, and its client the first event of a stream. */
async function callAndLeave(slug: string, stream: boolean): Promise<void> {
  const headers = {
    'content-type': 'application/json',
    'x-gateway-api-key': ADMIN_KEY,
    'x-gateway-virtual-key': slug,
  };
  const asked = request(`${gateway.app.url}/v1/chat/completions`, { method: 'POST', agent: false, headers });
  asked.on('error', () => undefined);
  let text = '';
  asked.on('response', (message) => message.on('error', () => undefined).on('data', (chunk) => (text += chunk)));
  asked.end(JSON.stringify({ model: 'm', max_tokens: 50, stream, messages: [] }));
  await eventually(() => answers.length === 1 && (!stream || text === TEXT));
  asked.destroy();
}

describe.each([true, false])('with on_disconnect drain, a call with stream %j', (stream) => {
  it('is read to its end, and charged what the provider reports', async () => {
    await gateway.limit({ type: 'tokens', credit_limit: 1_000 });
    await callAndLeave(await virtualKey('drain'), stream);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(onlyCall(gateway.provider).closedEarly).toBe(false);
    if (stream) answers[0]?.end(END);
    else answers[0]?.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ usage: USAGE }));
    expect(await gateway.books.ledger(1)).toMatchObject([
      { outcome: 'answered', source: 'provider', quantities: { input: 9, output: 5 } },
    ]);
    expect(onlyCall(gateway.provider).closedEarly).toBe(false);
    expect(await gateway.books.faults()).toEqual([]);
  });

  it('is charged what came when the provider breaks off', async () => {
    await callAndLeave(await virtualKey('drain'), stream);
    answers[0]?.destroy();
    expect(await gateway.books.ledger(1)).toMatchObject([
      { outcome: 'unknown', source: stream ? 'computed' : 'presumed' },
    ]);
  });
});

describe.each(['abort', undefined])('with on_disconnect %j', (onDisconnect) => {
  it.each([true, false])('a call with stream %j is ended with its client', async (stream) => {
    const slug = await virtualKey(onDisconnect);
    await callAndLeave(slug, stream);
    await eventually(() => onlyCall(gateway.provider).closedEarly);
    expect(await gateway.books.ledger(1)).toMatchObject([{ outcome: 'cancelled' }]);
  });
});

it('takes no other on_disconnect, and none for a provider without models of this kind', async () => {
  for (const [provider, on_disconnect] of [
    ['openai', 'wait'],
    ['cohere', 'drain'],
  ]) {
    const answer = await gateway.admin.post('/v1/virtual-keys', {
      name: 'refused',
      provider,
      key: 'k',
      config: { on_disconnect },
    });
    expect(refusalOf(answer)).toMatchObject({ status: 400, param: 'config.on_disconnect' });
  }
});
