import { PassThrough, Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../common/errors/gateway.error.js';
import { until } from './__fixtures__/calls.js';
import { UploadBody } from './upload-body.js';

const PACE = { silenceMs: 30_000, leastBytes: 100 };

async function text(body: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) if (Buffer.isBuffer(chunk)) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

describe('UploadBody', () => {
  it('passes on the bytes of its source', async () => {
    const source = Readable.from([Buffer.from('one '), Buffer.from('two')]);
    expect(await text(new UploadBody(source, PACE))).toBe('one two');
  });

  it('is empty when its source has already ended', async () => {
    const source = Readable.from([]);
    source.resume();
    await until(() => source.readableEnded);
    expect(await text(new UploadBody(source, PACE))).toBe('');
  });

  it('reads nothing from its source before it is read', async () => {
    const source = new PassThrough();
    source.write('x'.repeat(1_000));
    const body = new UploadBody(source, PACE);
    await new Promise((resolve) => setImmediate(resolve));
    expect([source.readableLength, body.readableLength]).toEqual([1_000, 0]);
  });

  it('reports when it waits for its source, and when its source waits for it', async () => {
    const source = new PassThrough({ highWaterMark: 1_000_000 });
    const body = new UploadBody(source, PACE);
    const waits: boolean[] = [];
    body.whenAwaited((isAwaited) => waits.push(isAwaited));
    expect(waits).toEqual([]);
    body.read(0);
    expect(waits).toEqual([true]);
    source.write('x'.repeat(100_000));
    await until(() => waits.length === 2);
    expect(waits).toEqual([true, false]);
    source.end();
    await text(body);
    expect(waits).toEqual([true, false, true, false]);
  });

  it.each([
    ['is silent', [] as const],
    ['sends too little', [30, 30, 30] as const],
  ])('is refused when its source %s', async (_how, sizes) => {
    const source = new PassThrough();
    const body = new UploadBody(source, { silenceMs: 100, leastBytes: 100 });
    const failed = text(body);
    for (const size of sizes) source.write('x'.repeat(size));
    await expect(failed).rejects.toMatchObject({ code: 'request_timeout', headers: { connection: 'close' } });
    expect(source.destroyed).toBe(false);
  });

  it('waits for a source that is slow, but fast enough', async () => {
    const source = new PassThrough();
    const received = text(new UploadBody(source, { silenceMs: 300, leastBytes: 100 }));
    for (let piece = 0; piece < 6; piece += 1) {
      source.write('x'.repeat(100));
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    source.end();
    expect(await received).toHaveLength(600);
  });

  it('does not count the time in which it is full', async () => {
    const source = new PassThrough();
    const body = new UploadBody(source, { silenceMs: 100, leastBytes: 100 });
    body.read(0);
    source.write('x'.repeat(100_000));
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(body.errored).toBeNull();
    source.end();
    expect(await text(body)).toHaveLength(100_000);
  });

  it.each([
    ['is destroyed', (body: UploadBody) => body.destroy()],
    ['fails', (body: UploadBody) => body.destroy(new Error('the upstream broke'))],
    ['is stopped', (body: UploadBody) => body.stop()],
  ])('reads its source to the end when it %s, and does not destroy it', async (_how, end) => {
    const source = new PassThrough({ autoDestroy: false });
    const body = new UploadBody(source, PACE);
    end(body);
    source.end('x'.repeat(1_000_000));
    await until(() => source.readableEnded);
    expect(source.destroyed).toBe(false);
    expect(body.readableLength).toBe(0);
  });

  it('survives a source that fails after the upload has ended', async () => {
    const source = new PassThrough();
    new UploadBody(source, PACE).destroy();
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
    const body = new UploadBody(source, PACE);
    end(source);
    await expect(text(body)).rejects.toMatchObject(expected);
  });

  it('fails when its source was already destroyed', async () => {
    const source = new PassThrough();
    source.destroy();
    await expect(text(new UploadBody(source, PACE))).rejects.toMatchObject({ kind: 'caller_gone' });
  });
});
