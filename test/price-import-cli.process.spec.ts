import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { COHERE, JINA, LITELLM } from '../src/usage/prices/importers/__fixtures__/lists.js';
import { type FakeProvider, json, startFakeProvider, text } from './support/fake-provider.js';
import { BuiltProgram } from './support/gateway-process.js';
import { ENCRYPTION_KEY, startTestApp } from './support/test-app.js';
import { testDatabase } from './support/test-database.js';

const PROGRAM = fileURLToPath(new URL('../dist/src/cli/import-prices.js', import.meta.url));

jest.setTimeout(60_000);

describe('prices:import', () => {
  let folder: string;
  let server: FakeProvider;

  beforeAll(async () => {
    // Creates the tables; closed, since the embedded database has one session.
    await (await startTestApp()).close();
    folder = mkdtempSync(join(tmpdir(), 'tollgate-prices-'));
    server = await startFakeProvider();
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await server.close();
  });

  async function program(...words: readonly string[]): Promise<BuiltProgram> {
    const environment = {
      ...(await testDatabase()).settings,
      EGRESS_ALLOW: '127.0.0.1',
      TOLLGATE_ENCRYPTION_KEY: ENCRYPTION_KEY,
    };
    const started = new BuiltProgram(PROGRAM, environment, folder, words);
    await started.exitCode();
    return started;
  }

  it('imports prices from a file and prints the result', async () => {
    writeFileSync(join(folder, 'jina.json'), JINA.text);
    const written = await program('portkey', join(folder, 'jina.json'));
    expect(written.stdout.split('\n')).toEqual([
      '+ jina jina-reranker-v1-base-en (input): 0.00000002',
      '+ jina jina-reranker-v2-base-multilingual (input): 0.00000002',
      '2 prices written, 0 unchanged',
      '',
    ]);
    expect([written.stderr, await written.exitCode()]).toEqual(['', 0]);
  });

  it('imports prices from a file with a byte order mark', async () => {
    writeFileSync(join(folder, 'cohere.json'), `\u{feff}${COHERE.text}`);
    const { stdout, stderr } = await program('portkey', join(folder, 'cohere.json'));
    expect([stderr, stdout]).toEqual(['', expect.stringContaining('4 unchanged')]);
  });

  it('imports prices from a URL within the egress rules', async () => {
    server.replyWith(json(JSON.parse(LITELLM.text)));
    const { stdout } = await program('litellm', `${server.url}/model_prices_and_context_window.json`);
    expect(stdout).toContain('0 prices written, 12 unchanged');
    const refused = await program('litellm', 'http://169.254.169.254/list.json');
    expect([await refused.exitCode(), refused.stdout]).toEqual([1, '']);
  });

  it('fails when the server does not have the price list', async () => {
    server.replyWith(text('gone', 'text/plain', 404));
    const failed = await program('litellm', `${server.url}/list.json`);
    expect([await failed.exitCode(), failed.stderr]).toEqual([1, expect.stringContaining('answered 404')]);
  });

  it('fails when it refuses a price list, and prints how to accept it', async () => {
    writeFileSync(join(folder, 'cohere.json'), COHERE.text.replaceAll('0.2', '20'));
    const refused = await program('portkey', join(folder, 'cohere.json'));
    expect([await refused.exitCode(), refused.stdout]).toEqual([1, expect.stringContaining('--accept')]);
    const accepted = await program('portkey', '--accept', join(folder, 'cohere.json'));
    expect([await accepted.exitCode(), accepted.stdout]).toEqual([0, expect.stringContaining('5 prices written')]);
  });

  it.each([[[]], [['portkey']], [['csv', 'list.json']], [['litellm', 'a', 'b']], [['litellm', 'a', '--force']]])(
    'prints the usage of prices:import after %j',
    async (words) => {
      const wrong = await program(...words);
      expect([await wrong.exitCode(), wrong.stderr]).toEqual([2, expect.stringContaining('usage: npm run')]);
    },
  );
});
