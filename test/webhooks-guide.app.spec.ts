import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { isObject, readString } from '../src/common/json/read.js';
import { closedPort } from '../src/upstream/__fixtures__/loopback.js';
import { EVENT_TYPES } from '../src/webhooks/event-types.js';
import { eventually } from './support/eventually.js';
import { GatewayClient } from './support/gateway-client.js';
import { send } from './support/send.js';
import { startTestApp, type TestApp } from './support/test-app.js';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const GUIDE = readFileSync(`${ROOT}docs/guides/webhooks.md`, 'utf8');

let gateway: TestApp;
let admin: GatewayClient;

beforeAll(async () => {
  gateway = await startTestApp();
  admin = new GatewayClient(gateway.url);
});
afterAll(() => gateway.close());

function blocks(language: string): readonly string[] {
  return [...GUIDE.matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 'gs'))].map(([, text = '']) => text);
}

describe('the guide to webhooks', () => {
  it("creates the guide's endpoint, and its program accepts only signed events", async () => {
    const [command = ''] = blocks('sh');
    const [, body = '{}'] = /-d '(.*)'/.exec(command) ?? [];
    const port = await closedPort();
    const url = `http://127.0.0.1:${port}`;
    const { id, secret } = await admin.create('/v1/webhooks', { ...JSON.parse(body), url });

    const [program = ''] = blocks('js');
    const receiver = spawn(process.execPath, ['--input-type=module', '-e', program], {
      cwd: ROOT,
      env: { PATH: process.env['PATH'], PORT: String(port), WEBHOOK_SECRET: readString(secret, 'secret') },
    });
    let printed = '';
    receiver.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    try {
      await eventually(() =>
        send(url).then(
          ({ status }) => status === 400,
          () => false,
        ),
      );
      const headers = { 'webhook-id': 'x', 'webhook-timestamp': String(Math.floor(Date.now() / 1_000)) };
      const forged = { ...headers, 'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}` };
      expect((await send(url, { headers: forged, body: '{}' })).status).toBe(400);
      expect(printed).toBe('');

      await admin.post(`/v1/webhooks/${String(id)}/test`);
      await eventually(() => printed.includes('\n'));
      const [delivery] = await admin.list(`/v1/webhooks/${String(id)}/deliveries`);
      const data = JSON.stringify({ webhook_endpoint_id: id });
      expect(printed).toBe(`${String(delivery?.['event_id'])} webhook.test ${data}\n`);
    } finally {
      receiver.kill();
      await once(receiver, 'close');
    }
  });

  it('documents every event type, and no other, under its own heading', () => {
    const headings = [...GUIDE.matchAll(/^### `(.*)`$/gm)].map(([, type = '']) => type);
    expect([...headings].sort()).toEqual([...EVENT_TYPES].sort());
    const examples = blocks('json').map((text): unknown => JSON.parse(text));
    expect(examples.map((example) => (isObject(example) ? example['type'] : undefined))).toEqual(headings);
    for (const example of examples) {
      expect(example).toEqual({ type: expect.any(String), timestamp: expect.any(String), data: expect.any(Object) });
    }
  });
});
