// Events of AWS's binary event streams. Source: https://smithy.io/2.0/aws/amazon-eventstream.html, read 2026-11-28.
import { EventStreamCodec } from '@smithy/eventstream-codec';

export const AWS_EVENTS = 'application/vnd.amazon.eventstream';

const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('utf8')),
  (text) => Buffer.from(text, 'utf8'),
);

export interface AwsEvent {
  /** The API documents each `exception`; an `error` may be anything else. */
  readonly kind: 'event' | 'exception' | 'error';
  /** The event's name in the API: `contentBlockDelta`, `throttlingException`. */
  readonly name: string;
  readonly payload: Buffer;
}

/** Reads the event of a frame; undefined for a broken frame. */
export function readAwsEvent(frame: Buffer): AwsEvent | undefined {
  try {
    const { headers, body } = codec.decode(frame);
    const text = (name: string): string => String(headers[name]?.value ?? '');
    const payload = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    const kind = text(':message-type');
    if (kind === 'event') return { kind, name: text(':event-type'), payload };
    if (kind === 'exception') return { kind, name: text(':exception-type'), payload };
    const message = Buffer.from(JSON.stringify({ message: text(':error-message') }));
    return kind === 'error' ? { kind, name: text(':error-code'), payload: message } : undefined;
  } catch {
    return undefined;
  }
}

/** Writes the frame of an event with a JSON payload. */
export function writeAwsEvent({ kind, name, payload }: AwsEvent): Buffer {
  const header = kind === 'event' ? ':event-type' : ':exception-type';
  const frame = codec.encode({
    headers: {
      [header]: { type: 'string', value: name },
      ':content-type': { type: 'string', value: 'application/json' },
      ':message-type': { type: 'string', value: kind },
    },
    body: payload,
  });
  return Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength);
}
