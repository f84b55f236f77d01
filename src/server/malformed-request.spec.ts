import { createServer, type Server } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { rawExchange } from '../../test/support/raw-exchange.js';
import { answerMalformedRequest } from './malformed-request.js';

describe('answerMalformedRequest', () => {
  let server: Server;

  beforeEach(async () => {
    server = createServer({ connectionsCheckingInterval: 20 }, (_request, response) => response.end('handled'));
    server.on('clientError', (cause, socket) => answerMalformedRequest(cause, socket));
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  });

  afterEach(() => void server.close());

  it('returns the error envelope for bytes that are not HTTP, and closes the connection', async () => {
    const answer = await send('NONSENSE\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(JSON.parse(bodyOf(answer))).toMatchObject({
      error: { code: 'validation_failed', source: 'gateway', param: null },
    });
  });

  it('returns 431 for a head that is too large', async () => {
    const answer = await send(`GET / HTTP/1.1\r\nhost: a\r\nx-long: ${'a'.repeat(20_000)}\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 431 /);
    expect(JSON.parse(bodyOf(answer))).toMatchObject({ error: { code: 'validation_failed' } });
  });

  it('returns 408 for a head that is never completed', async () => {
    server.headersTimeout = 1;
    const answer = await send('GET / HTTP/1.1\r\nhost: a\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
    expect(JSON.parse(bodyOf(answer))).toMatchObject({ error: { code: 'request_timeout', source: 'gateway' } });
  });

  it('does not affect well-formed requests', async () => {
    expect(await send('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')).toContain('handled');
  });

  function send(text: string): Promise<string> {
    const address = server.address();
    if (typeof address !== 'object' || address === null) throw new Error('not listening');
    return rawExchange(address.port, text);
  }
});

function bodyOf(answer: string): string {
  return answer.slice(answer.indexOf('\r\n\r\n') + 4);
}
