import { PassThrough, Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../common/errors/gateway.error.js';
import { until } from './__fixtures__/calls.js';
import { UploadBody } from './upload-body.js';

async function text(body: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) if (Buffer.isBuffer(chunk)) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

describe('UploadBody', () => {
  it('passes on the bytes of its source', async () => {
    const source = Readable.from([Buffer.from('one '), Buffer.from('two')]);
    expect(await text(new UploadBody(source))).toBe('one two');
  });

  it('is empty when its source has already ended', async () => {
    const source = Readable.from([]);
    source.resume();
    await until(() => source.readableEnded);
    expect(await text(new UploadBody(source))).toBe('');
  });

  it('reads nothing from its source before it is read', async () => {
    const source = new PassThrough();
    source.write('x'.repeat(1_000));
    const body = new UploadBody(source);
    await new Promise((resolve) => setImmediate(resolve));
    expect([source.readableLength, body.readableLength]).toEqual([1_000, 0]);
  });

  it('reports every chunk, and the end', async () => {
    let moves = 0;
    const body = new UploadBody(Readable.from([Buffer.from('one '), Buffer.from('two')]));
    body.whenMoved(() => (moves += 1));
    await text(body);
    expect(moves).toBe(3);
  });

  it.each([
    ['is destroyed', (body: UploadBody) => body.destroy()],
    ['fails', (body: UploadBody) => body.destroy(new Error('the upstream broke'))],
    ['is stopped', (body: UploadBody) => body.stop()],
  ])('reads its source to the end when it %s, and does not destroy it', async (_how, end) => {
    const source = new PassThrough({ autoDestroy: false });
    const body = new UploadBody(source);
    end(body);
    source.end('x'.repeat(1_000_000));
    await until(() => source.readableEnded);
    expect(source.destroyed).toBe(false);
    expect(body.readableLength).toBe(0);
  });

  it('survives a source that fails after the upload has ended', async () => {
    const source = new PassThrough();
    new UploadBody(source).destroy();
    source.destroy(new Error('late'));
    await until(() => source.closed);
  });

  it.each([
    ['fails', (source: PassThrough) => source.destroy(new Error('ECONNRESET')), { kind: 'caller_gone' }],
    ['closes', (source: PassThrough) => source.destroy(), { kind: 'caller_gone' }],
    [
      'is refused on purpose',
      (source: PassThrough) => source.destroy(new GatewayError('provider_rejected')),
      { code: 'provider_rejected' },
    ],
  ])('fails when its source %s', async (_how, end, expected) => {
    const source = new PassThrough();
    const body = new UploadBody(source);
    end(source);
    await expect(text(body)).rejects.toMatchObject(expected);
  });

  it('fails when its source was already destroyed', async () => {
    const source = new PassThrough();
    source.destroy();
    await expect(text(new UploadBody(source))).rejects.toMatchObject({ kind: 'caller_gone' });
  });
});
