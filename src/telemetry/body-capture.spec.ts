import type { ServerResponse } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '../../test/support/eventually.js';
import { startHttp } from '../upstream/__fixtures__/loopback.js';
import { BodyCapture, type CapturedBodies } from './body-capture.js';

const RULES = { sampleRate: 1, maxBytes: 10, retentionDays: 1 };

/** Answers one request by `write`, and returns what the client got and what was captured. */
async function exchange(
  write: (response: ServerResponse) => void,
  sent?: Buffer,
): Promise<{ readonly got: string; readonly bodies: CapturedBodies }> {
  const taken: CapturedBodies[] = [];
  const server = await startHttp((request, response) => {
    // As the gateway does: Node keeps the headers of a response that has one.
    response.setHeader('x-gateway-trace-id', 't');
    const capture = new BodyCapture(RULES, response);
    response.on('close', () => taken.push(capture.take(request, sent)));
    write(response);
  });
  try {
    const headers = { 'content-type': 'text/x-sent', 'accept-encoding': 'identity' };
    const answer = await fetch(server.origin, { method: 'POST', headers, body: 'sent' });
    const got = await answer.text();
    await eventually(() => taken.length > 0);
    const [bodies] = taken;
    if (bodies === undefined) throw new Error('nothing was captured');
    return { got, bodies };
  } finally {
    await server.close();
  }
}

describe('BodyCapture', () => {
  it('copies what is written in any form, and passes all of it on', async () => {
    const { got, bodies } = await exchange((response) => {
      response.setHeader('content-type', 'text/plain');
      response.write('ab');
      response.write('6364', 'hex', () => undefined);
      response.write(Buffer.from('ef'));
      response.end(new Uint8Array([103]), () => undefined);
    });
    expect(got).toBe('abcdefg');
    expect(bodies.response).toEqual({
      contentType: 'text/plain',
      contentEncoding: undefined,
      size: 7,
      bytes: Buffer.from('abcdefg'),
    });
    expect(bodies.request).toBeUndefined();
  });

  it('keeps the beginning of each body, and the size of the whole', async () => {
    const { got, bodies } = await exchange(
      (response) => {
        response.writeHead(200, { 'content-type': 'a/b', 'content-encoding': 'identity' });
        for (let piece = 0; piece < 5; piece += 1) response.write('0123');
        response.end();
      },
      Buffer.from('x'.repeat(99)),
    );
    expect(got).toHaveLength(20);
    expect(bodies.response).toMatchObject({
      size: 20,
      contentType: 'a/b',
      contentEncoding: 'identity',
      bytes: Buffer.from('0123012301'),
    });
    expect(bodies.request).toEqual({
      contentType: 'text/x-sent',
      contentEncoding: undefined,
      size: 99,
      bytes: Buffer.from('x'.repeat(10)),
    });
  });

  it.each<[string, (response: ServerResponse) => void]>([
    ['nothing', (response) => response.end()],
    ['a callback alone', (response) => response.end(() => undefined)],
    ['an empty text', (response) => response.end('')],
  ])('has no response after %s', async (_what, write) => {
    const { bodies } = await exchange(write);
    expect(bodies.response).toBeUndefined();
  });
});
