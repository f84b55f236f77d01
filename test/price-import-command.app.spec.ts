import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { importPriceList } from '../src/cli/import-price-list.js';
import { COHERE, JINA, LITELLM } from '../src/usage/prices/importers/__fixtures__/lists.js';
import { type CommandRun, runOnTestDatabase } from './support/command.js';
import { type FakeProvider, json, startFakeProvider, text } from './support/fake-provider.js';
import { startTestApp } from './support/test-app.js';

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

  function run(...words: readonly string[]): Promise<CommandRun> {
    return runOnTestDatabase(importPriceList, words, { EGRESS_ALLOW: '127.0.0.1' });
  }

  it('imports prices from a file and prints the result', async () => {
    writeFileSync(join(folder, 'jina.json'), JINA.text);
    const written = await run('portkey', join(folder, 'jina.json'));
    expect(written.stdout.split('\n')).toEqual([
      '+ jina jina-reranker-v1-base-en (input): 0.00000002',
      '+ jina jina-reranker-v2-base-multilingual (input): 0.00000002',
      '2 prices written, 0 unchanged',
      '',
    ]);
    expect([written.stderr, written.code]).toEqual(['', 0]);
  });

  it('imports prices from a file with a byte order mark', async () => {
    writeFileSync(join(folder, 'cohere.json'), `\u{feff}${COHERE.text}`);
    const { stdout, stderr } = await run('portkey', join(folder, 'cohere.json'));
    expect([stderr, stdout]).toEqual(['', expect.stringContaining('4 unchanged')]);
  });

  it('imports prices from a URL within the egress rules', async () => {
    server.replyWith(json(JSON.parse(LITELLM.text)));
    const { stdout } = await run('litellm', `${server.url}/model_prices_and_context_window.json`);
    expect(stdout).toContain('0 prices written, 12 unchanged');
    const refused = await run('litellm', 'http://169.254.169.254/list.json');
    expect([refused.code, refused.stdout]).toEqual([1, '']);
  });

  it('fails when the server does not have the price list', async () => {
    server.replyWith(text('gone', 'text/plain', 404));
    const failed = await run('litellm', `${server.url}/list.json`);
    expect([failed.code, failed.stderr]).toEqual([1, expect.stringContaining('answered 404')]);
  });

  it('fails when it refuses a price list, and prints how to accept it', async () => {
    writeFileSync(join(folder, 'cohere.json'), COHERE.text.replaceAll('0.2', '20'));
    const refused = await run('portkey', join(folder, 'cohere.json'));
    expect([refused.code, refused.stdout]).toEqual([1, expect.stringContaining('--accept')]);
    const accepted = await run('portkey', '--accept', join(folder, 'cohere.json'));
    expect([accepted.code, accepted.stdout]).toEqual([0, expect.stringContaining('5 prices written')]);
  });

  it.each([[[]], [['portkey']], [['csv', 'list.json']], [['litellm', 'a', 'b']], [['litellm', 'a', '--force']]])(
    'prints the usage of prices:import after %j',
    async (words) => {
      const wrong = await run(...words);
      expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('usage: npm run')]);
    },
  );
});
