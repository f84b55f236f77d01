import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import type { CapturedBody } from '../telemetry/body-capture.js';
import { packed, unpacked } from './packed-bodies.js';

const RULES = { sampleRate: 1, maxBytes: 8, retentionDays: 1 };

function body(bytes: Buffer, more: Partial<CapturedBody> = {}): CapturedBody {
  return { contentType: 'text/plain', contentEncoding: undefined, size: bytes.length, bytes, ...more };
}

async function packedAs(response: CapturedBody | undefined) {
  return unpacked(await packed({ rules: RULES, request: undefined, response }));
}

describe('packed bodies', () => {
  it('has text as it came, and null for what was not there', async () => {
    expect(await packedAs(body(Buffer.from('ä ✓')))).toEqual({
      request: null,
      response: { content_type: 'text/plain', bytes: 6, truncated: false, encoding: 'utf-8', content: 'ä ✓' },
    });
    expect(await packedAs(undefined)).toEqual({ request: null, response: null });
  });

  it('has what is not text in base64', async () => {
    const bytes = Buffer.from([0xff, 0xfe, 0]);
    const { response } = await packedAs(body(bytes, { contentType: undefined }));
    expect(response).toMatchObject({ content_type: null, encoding: 'base64', content: bytes.toString('base64') });
  });

  it('leaves out a character that the cut goes through', async () => {
    const whole = Buffer.from('1234567✓');
    const { response } = await packedAs(body(whole.subarray(0, 8), { size: whole.length }));
    expect(response).toMatchObject({ truncated: true, bytes: 10, encoding: 'utf-8', content: '1234567' });
  });

  it('decodes a whole compressed body, and cuts it to the same length', async () => {
    const bytes = gzipSync('0123456789');
    const { response } = await packedAs(body(bytes, { contentEncoding: 'gzip' }));
    expect(response).toMatchObject({ bytes: bytes.length, truncated: true, encoding: 'utf-8', content: '01234567' });
  });

  it.each<[string, Partial<CapturedBody>]>([
    ['the beginning of a compressed body', { bytes: gzipSync('hello').subarray(0, 8) }],
    ['a body that does not decode', { contentEncoding: 'br' }],
    ['a body in an unknown coding', { contentEncoding: 'x-own' }],
  ])('keeps %s as it came', async (_what, more) => {
    const bytes = gzipSync('hello');
    const { response } = await packedAs(body(bytes, { contentEncoding: 'gzip', size: bytes.length, ...more }));
    expect(response).toMatchObject({ encoding: 'base64', content: bytes.subarray(0, 8).toString('base64') });
  });

  it('refuses what it did not make', async () => {
    await expect(unpacked(Buffer.from('junk'))).rejects.toThrow();
    await expect(unpacked(gzipSync('[1]'))).rejects.toThrow('no bodies');
  });
});
