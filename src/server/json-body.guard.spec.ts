import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { Reflector } from '@nestjs/core';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { JsonBodyGuard } from './json-body.guard.js';
import { StreamedBody } from '../common/http/execution-context.js';

interface Incoming {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const JSON_HEADERS = { 'content-type': 'application/json' };

/** A request as the guard sees it; `body` is set when the guard has read one. */
function request({ method = 'POST', headers = {}, body = '' }: Incoming): Readable & { readonly body?: unknown } {
  const length = { 'content-length': String(Buffer.byteLength(body)) };
  return Object.assign(Readable.from([Buffer.from(body)]), { method, headers: { ...length, ...headers } });
}

class Routes {
  readsJson(): void {}

  @StreamedBody()
  passesOn(): void {}
}

async function guard(incoming: object, limitBytes = 100, route: keyof Routes = 'readsJson'): Promise<boolean> {
  const context = new ExecutionContextHost([incoming], Routes, Routes.prototype[route]);
  return new JsonBodyGuard({ maxBytes: limitBytes, totalMs: 60_000, silenceMs: 30_000 }, new Reflector()).canActivate(
    context,
  );
}

describe('JsonBodyGuard', () => {
  it.each(['POST', 'PUT', 'PATCH', 'DELETE'])('reads the body of a %s', async (method) => {
    const incoming = request({ method, headers: JSON_HEADERS, body: '{"name": "ü"}' });
    expect(await guard(incoming)).toBe(true);
    expect(incoming.body).toEqual({ name: 'ü' });
  });

  it('reads a chunked body without a content length', async () => {
    const headers = { ...JSON_HEADERS, 'transfer-encoding': 'chunked', 'content-length': '0' };
    const incoming = request({ headers, body: '{"name": "Search"}' });
    await guard(incoming);
    expect(incoming.body).toEqual({ name: 'Search' });
  });

  it.each([{}, JSON_HEADERS, { 'content-type': 'text/plain' }])(
    'treats an empty chunked body as absent, with %j',
    async (headers) => {
      const incoming = request({ headers: { ...headers, 'transfer-encoding': 'chunked' } });
      expect(await guard(incoming)).toBe(true);
      expect(incoming.body).toBeUndefined();
    },
  );

  it('refuses a chunked body of another type', async () => {
    const headers = { 'content-type': 'text/plain', 'transfer-encoding': 'chunked' };
    await expect(guard(request({ headers, body: '{}' }))).rejects.toMatchObject({ code: 'unsupported_media_type' });
  });

  it('neither reads nor limits the body of a streaming route', async () => {
    const incoming = request({ headers: { 'content-type': 'text/plain' }, body: 'x'.repeat(1_000) });
    expect(await guard(incoming, 100, 'passesOn')).toBe(true);
    expect([incoming.body, incoming.readableFlowing]).toEqual([undefined, null]);
  });

  it('admits a request without a body, whatever its content type', async () => {
    const incoming = request({ headers: { 'content-type': 'text/plain' } });
    expect(await guard(incoming)).toBe(true);
    expect(incoming.body).toBeUndefined();
  });

  it.each(['GET', 'HEAD', 'OPTIONS'])('does not read the body of a %s', async (method) => {
    const incoming = request({ method, headers: { 'content-type': 'text/plain' }, body: 'not json' });
    expect(await guard(incoming)).toBe(true);
    expect(incoming.body).toBeUndefined();
  });

  it.each([
    ['another type', { headers: { 'content-type': 'text/plain' }, body: '{}' }, 'unsupported_media_type'],
    ['no type', { body: '{}' }, 'unsupported_media_type'],
    ['broken JSON', { headers: JSON_HEADERS, body: '{' }, 'validation_failed'],
    ['too many bytes', { headers: JSON_HEADERS, body: `"${'x'.repeat(100)}"` }, 'payload_too_large'],
  ])('refuses %s', async (_what, incoming, code) => {
    await expect(guard(request(incoming))).rejects.toMatchObject({ code });
  });

  it('refuses a chunked body over the limit', async () => {
    const headers = { ...JSON_HEADERS, 'transfer-encoding': 'chunked', 'content-length': '0' };
    const incoming = request({ headers, body: `"${'x'.repeat(100)}"` });
    await expect(guard(incoming)).rejects.toMatchObject({ code: 'payload_too_large' });
  });

  it('accepts a body of exactly the limit', async () => {
    expect(await guard(request({ headers: JSON_HEADERS, body: `"${'x'.repeat(98)}"` }))).toBe(true);
  });
});
