import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { batches, cursorPages } from './support/fake-openai.js';
import { PROVIDER_KEY, type RerankGateway, startRerankGateway } from './support/rerank-gateway.js';
import { ADMIN_KEY } from './support/test-app.js';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const GUIDE = readFileSync(`${ROOT}docs/guides/sdk.md`, 'utf8');
const EXAMPLE = readFileSync(`${ROOT}examples/openai-sdk.mjs`, 'utf8');
const run = promisify(execFile);

let gateway: RerankGateway;

beforeAll(async () => {
  gateway = await startRerankGateway();
});
afterAll(() => gateway.close());

/** The output of a program that calls the gateway. */
async function outputOf(program: string, virtualKey: string, key = ADMIN_KEY): Promise<readonly string[]> {
  const { PATH } = process.env;
  const env = { PATH, TOLLGATE_URL: gateway.app.url, TOLLGATE_KEY: key, TOLLGATE_VIRTUAL_KEY: virtualKey };
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program], { cwd: ROOT, env });
  return stdout.trim().split('\n');
}

function blocks(language: string): readonly string[] {
  return [...GUIDE.matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 'gs'))].map(([, text = '']) => text);
}

describe('the guide to the SDK', () => {
  it("runs the SDK guide's command and program as they are written", async () => {
    const [command = ''] = blocks('sh');
    const [, body = '{}'] = /-d '(.*)'/.exec(command) ?? [];
    const made = await fetch(`${gateway.app.url}/v1/virtual-keys`, {
      method: 'POST',
      headers: { 'x-gateway-api-key': ADMIN_KEY, 'content-type': 'application/json' },
      body: JSON.stringify({ ...JSON.parse(body), key: PROVIDER_KEY, config: { base_url: gateway.provider.url } }),
    });
    expect(made.status).toBe(201);
    gateway.provider.replyWith(cursorPages(batches(45)));
    const [program = ''] = blocks('js');
    expect(await outputOf(program, 'unused')).toEqual(batches(45).map(({ id }) => `${id} in_progress`));
  });

  it('prints every batch with the example of the SDK guide', async () => {
    gateway.provider.replyWith(cursorPages(batches(250)));
    const lines = await outputOf(EXAMPLE, await gateway.virtualKey('openai-compatible'));
    expect(lines).toEqual(batches(250).map(({ id }) => `${id}  in_progress  95/100`));
  });

  it('ends the example of the SDK guide with the error of an invalid key', async () => {
    const output = outputOf(EXAMPLE, 'openai', 'tg_nobody');
    await expect(output).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('api_key_invalid') });
  });
});
