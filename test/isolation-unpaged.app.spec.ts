import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { plainly, openaiClient } from './support/openai-client.js';
import { json, type Reply } from './support/fake-provider.js';
import { type RerankGateway, startRerankGateway } from './support/rerank-gateway.js';
import { refusalOf } from './support/send.js';

/** Files of others and our own in turn, so that each of our pages ends inside the account's list. */
const ACCOUNT = Array.from({ length: 120 }, (_, index) => ({ id: `file-${index}`, object: 'file' }));
const OWN = ACCOUNT.filter((_, index) => index % 2 === 1).map(({ id }) => id);

describe('the files of a virtual key at a server that pages by 20 without has_more', () => {
  it('lists each file once, and ends after an empty page', async () => {
    const gateway = await startRerankGateway();
    gateway.provider.replyWith(shortPages);
    const slug = await gateway.virtualKey('openai-compatible');
    const ids: string[] = [];
    for await (const { id } of openaiClient(gateway, slug).files.list()) ids.push(id);
    expect(ids).toEqual(ACCOUNT.map(({ id }) => id));
    expect(gateway.provider.calls).toHaveLength(7);
    await gateway.close();
  });
});

describe('the files of an isolated workspace at a server whose list does not page', () => {
  let gateway: RerankGateway;
  let strict: string;

  beforeAll(async () => {
    gateway = await startRerankGateway();
    strict = await gateway.virtualKey('openai-compatible', { config: { isolation: 'strict' } });
    for (const id of OWN) {
      gateway.provider.replyWith(json({ id }));
      await plainly(gateway, strict)('POST', '/files', { body: Buffer.from('--x') });
    }
  });
  afterAll(() => gateway.close());
  beforeEach(() => gateway.provider.forget());

  async function listed(): Promise<readonly string[]> {
    const ids: string[] = [];
    for await (const { id } of openaiClient(gateway, strict).files.list({ limit: 25 })) {
      ids.push(id);
      // Otherwise an endless list would run until the test times out.
      if (ids.length > 2 * OWN.length) break;
    }
    return ids;
  }

  it.each<readonly [string, Reply]>([
    ['sends everything without has_more', json({ data: ACCOUNT, object: 'list' })],
    ['sends everything with has_more', json({ data: ACCOUNT, object: 'list', has_more: true })],
    ['starts a page with the cursor itself', inclusivePages],
    ['sends at most 20 files without has_more', shortPages],
  ])('lists each isolated file once when the provider %s', async (_what, account) => {
    gateway.provider.replyWith(account);
    expect(await listed()).toEqual(OWN);
  });

  it('ends the list of isolated files where the provider truncates it', async () => {
    gateway.provider.replyWith(json({ data: ACCOUNT.slice(0, 50), object: 'list', has_more: true }));
    expect(await listed()).toEqual(OWN.slice(0, 25));
    expect(gateway.provider.calls.length).toBeLessThan(10);
  });

  it('refuses a cursor that is not a file of the workspace', async () => {
    gateway.provider.replyWith(json({ data: ACCOUNT, object: 'list' }));
    const refusal = refusalOf(await plainly(gateway, strict)('GET', '/files?after=file-0'));
    expect(refusal).toEqual({ status: 400, code: 'validation_failed', param: 'after', source: 'gateway' });
  });

  it('applies one timeout to all pages that are read', async () => {
    const hurried = await gateway.virtualKey('openai-compatible', { config: { isolation: 'strict', timeout_ms: 400 } });
    gateway.provider.replyWith((response, call) => {
      const page = json({ data: [{ id: `file-of-others-${gateway.provider.calls.length}` }], has_more: true });
      setTimeout(() => page(response, call), 80);
    });
    const refusal = refusalOf(await plainly(gateway, hurried)('GET', '/files'));
    expect(refusal).toMatchObject({ status: 504, code: 'provider_timeout' });
    expect(gateway.provider.calls.length).toBeLessThanOrEqual(6);
  });
});

/** Pages of 20, whatever the limit is. */
function shortPages(...[response, call]: Parameters<Reply>): void {
  const after = new URL(call.path, 'http://provider').searchParams.get('after');
  const start = ACCOUNT.findIndex(({ id }) => id === after) + 1;
  json({ object: 'list', data: ACCOUNT.slice(start, start + 20) })(response, call);
}

/** Pages of ten that repeat the item before them. */
function inclusivePages(...[response, call]: Parameters<Reply>): void {
  const after = new URL(call.path, 'http://provider').searchParams.get('after');
  const start = Math.max(
    0,
    ACCOUNT.findIndex(({ id }) => id === after),
  );
  const data = ACCOUNT.slice(start, start + 10);
  json({ object: 'list', data, has_more: start + 10 < ACCOUNT.length })(response, call);
}
