import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { getRepositoryToken } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { ProviderObject } from '../src/gateway/relay/provider-object.entity.js';
import { json, onlyCall } from './support/fake-provider.js';
import { openaiClient, plainly } from './support/openai-client.js';
import { type RerankGateway, startRerankGateway } from './support/rerank-gateway.js';
import { jsonOf, refusalOf } from './support/send.js';

const BATCH = { input_file_id: 'file-1', endpoint: '/v1/embeddings', completion_window: '24h' } as const;

describe('a create whose object cannot be recorded', () => {
  let gateway: RerankGateway;
  let strict: string;
  let open: string;
  let objects: Repository<ProviderObject>;

  beforeAll(async () => {
    gateway = await startRerankGateway();
    strict = await gateway.virtualKey('openai-compatible', { config: { isolation: 'strict' } });
    open = await gateway.virtualKey('openai-compatible');
    objects = gateway.app.app.get(getRepositoryToken(ProviderObject), { strict: false });
    gateway.provider.replyWith(json({ id: BATCH.input_file_id }));
    await plainly(gateway, strict)('POST', '/files', { body: Buffer.from('--x') });
  });
  afterAll(() => gateway.close());
  beforeEach(() => gateway.provider.forget());
  afterEach(() => void jest.restoreAllMocks());

  const outage = () => jest.spyOn(objects, 'createQueryBuilder');
  const down = () => {
    throw new Error('Query read timeout');
  };

  function warningsOf(id: string): readonly unknown[] {
    const lines = gateway.app
      .log()
      .split('\n')
      .filter((line) => line.includes('provider_objects_not_recorded'));
    return lines.filter((line) => line.includes(`"${id}"`)).map((line): unknown => JSON.parse(line));
  }

  it("returns the provider's answer when isolation is off and the object cannot be recorded", async () => {
    gateway.provider.replyWith(json({ id: 'batch_open', object: 'batch' }));
    outage().mockImplementation(down);
    const answer = await plainly(gateway, open)('POST', '/batches', { body: BATCH });
    expect([answer.status, jsonOf(answer)['id']]).toEqual([200, 'batch_open']);
    expect(warningsOf('batch_open')).toMatchObject([{ level: 'warn', kind: 'batch', ids: ['batch_open'] }]);
  });

  it('retries the recording of an object when workspaces are isolated', async () => {
    gateway.provider.replyWith(json({ id: 'batch_late', object: 'batch' }));
    outage().mockImplementationOnce(down).mockImplementationOnce(down);
    const ask = plainly(gateway, strict);
    expect((await ask('POST', '/batches', { body: BATCH })).status).toBe(200);
    onlyCall(gateway.provider);
    expect(warningsOf('batch_late')).toEqual([]);
    expect((await ask('GET', '/batches/batch_late')).status).toBe(200);
  });

  it('returns an error that forbids retries when an isolated object cannot be recorded', async () => {
    gateway.provider.replyWith(json({ id: 'batch_lost', object: 'batch' }));
    outage().mockImplementation(down);
    const answer = await plainly(gateway, strict)('POST', '/batches', { body: BATCH });
    expect(refusalOf(answer)).toMatchObject({ status: 503, code: 'store_unavailable', source: 'gateway' });
    expect(answer.headers['x-should-retry']).toBe('false');
    expect(warningsOf('batch_lost')).toMatchObject([{ level: 'warn', kind: 'batch', ids: ['batch_lost'] }]);
  });

  it.each(['open', 'strict'] as const)('creates the object once although the SDK retries: %s', async (isolation) => {
    gateway.provider.replyWith(json({ id: `batch_sdk_${isolation}`, object: 'batch' }));
    outage().mockImplementation(down);
    const client = openaiClient(gateway, isolation === 'open' ? open : strict).withOptions({ maxRetries: 2 });
    const made = client.batches.create(BATCH).then(
      ({ id }) => id,
      ({ status }: { readonly status: number }) => status,
    );
    expect(await made).toBe(isolation === 'open' ? 'batch_sdk_open' : 503);
    onlyCall(gateway.provider);
  });
});
