import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { GatewayError } from '../errors/gateway.error.js';
import { BodyBuffer } from './body-buffer.js';
import { type Coding, decoderOf } from './content-coding.js';

/**
 * Decodes a whole request body.
 * @param maxBytes of what comes out: some bytes can expand to a thousand times as many
 * @throws GatewayError `payload_too_large`, `validation_failed`
 */
export async function decodeBody(body: Buffer, codings: readonly Coding[], maxBytes: number): Promise<Buffer> {
  const decoded = new BodyBuffer();
  // The coding that was applied last is the first to be undone.
  const stages = codings.toReversed().map((coding, index) => decoderOf(coding, index === 0 ? body : undefined));
  const collector = new Writable({
    write(chunk: Buffer, _encoding, done) {
      decoded.push(chunk);
      done(decoded.size > maxBytes ? tooLarge(maxBytes) : null);
    },
  });
  try {
    await pipeline([Readable.from([body]), ...stages, collector]);
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    const message = `The request body cannot be decoded as ${codings.join(', ')}.`;
    throw new GatewayError('validation_failed', { message });
  }
  return decoded.take();
}

function tooLarge(maxBytes: number): GatewayError {
  const message = `The request body is larger than ${maxBytes} bytes when it is decoded.`;
  return new GatewayError('payload_too_large', { message });
}
