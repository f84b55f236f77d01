// Binary event streams, as Bedrock's runtime sends them.
import { isObject } from '../../src/common/json/read.js';
import { AWS_EVENTS, readAwsEvent, writeAwsEvent } from '../../src/upstream/streams/aws-events.js';
import { FrameSplitter } from '../../src/upstream/streams/frame-splitter.js';
import type { Reply } from './fake-provider.js';

/** Events of ConverseStream, each with the padding that Bedrock adds. */
export function converseEvents(...events: readonly object[]): Buffer {
  return Buffer.concat(
    events.flatMap((event) =>
      Object.entries(event).map(([name, value]) =>
        writeAwsEvent({ kind: 'event', name, payload: Buffer.from(JSON.stringify({ ...value, p: 'abcd' })) }),
      ),
    ),
  );
}

/** Chunks of InvokeModelWithResponseStream. */
export function invokeChunks(...chunks: readonly object[]): Buffer {
  return Buffer.concat(
    chunks.map((chunk) => {
      const payload = { bytes: Buffer.from(JSON.stringify(chunk)).toString('base64'), p: 'abcdef' };
      return writeAwsEvent({ kind: 'event', name: 'chunk', payload: Buffer.from(JSON.stringify(payload)) });
    }),
  );
}

export function exceptionFrame(name: string, message: string): Buffer {
  return writeAwsEvent({ kind: 'exception', name, payload: Buffer.from(JSON.stringify({ message })) });
}

export function frames(body: Buffer, headers: Readonly<Record<string, string>> = {}): Reply {
  return (response) => response.writeHead(200, { 'content-type': AWS_EVENTS, ...headers }).end(body);
}

/** Announces more than it sends, and closes the connection. */
export function cutFrames(body: Buffer, type = AWS_EVENTS): Reply {
  return (response) => {
    response.writeHead(200, { 'content-type': type, 'content-length': body.length + 1_000 });
    response.write(body, () => setTimeout(() => response.destroy(), 50));
  };
}

/** Kinds, names and payloads of a stream. */
export function eventsIn(body: Buffer): readonly object[] {
  return new FrameSplitter().push(body).map((frame) => {
    const event = readAwsEvent(frame);
    if (event === undefined) throw new Error('a broken frame');
    const payload: unknown = JSON.parse(event.payload.toString());
    return { kind: event.kind, name: event.name, payload: isObject(payload) ? payload : {} };
  });
}
