import { Writable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { HeldStream } from './held-stream.js';

/** A client that takes each chunk at once, or only when `release` is called. */
class Client extends Writable {
  readonly chunks: string[] = [];
  release: (() => void) | undefined;

  constructor(private readonly isSlow = false) {
    super({ highWaterMark: isSlow ? 1 : 16_384, decodeStrings: false });
  }

  get text(): string {
    return this.chunks.join('');
  }

  override _write(chunk: Buffer | string, _encoding: BufferEncoding, done: () => void): void {
    this.chunks.push(String(chunk));
    if (this.isSlow) this.release = done;
    else done();
  }
}

interface Held {
  readonly stream: HeldStream;
  readonly client: Client;
  /** How often the answer was begun. */
  readonly begun: () => number;
  /** What the meter knows. */
  readonly known: { hasOutput: boolean; hasFailed: boolean };
}

function held(client = new Client()): Held {
  const known = { hasOutput: false, hasFailed: false };
  let begun = 0;
  const stream = new HeldStream({
    begin: () => {
      begun += 1;
      return client;
    },
    hasOutput: () => known.hasOutput,
    hasFailed: () => known.hasFailed,
  });
  return { stream, client, begun: () => begun, known };
}

function written(stream: Writable, text: string | Buffer): Promise<void> {
  return new Promise((done) => stream.write(text, () => done()));
}

function finished(stream: Writable): Promise<void> {
  return new Promise((done) => stream.end(done));
}

function nextTurn(): Promise<void> {
  return new Promise((done) => setImmediate(done));
}

describe('HeldStream', () => {
  it('gives its client nothing until there is some output, then every byte in its order', async () => {
    const { stream, client, begun, known } = held();
    await written(stream, 'role ');
    await written(stream, Buffer.from('comment '));
    expect([begun(), client.text]).toEqual([0, '']);
    known.hasOutput = true;
    await written(stream, 'first ');
    expect([begun(), client.text]).toEqual([1, 'role comment first ']);
    await written(stream, 'second');
    await finished(stream);
    expect([begun(), client.text, client.writableFinished]).toEqual([1, 'role comment first second', true]);
  });

  it('keeps an error without output from its client', async () => {
    const { stream, client, begun, known } = held();
    await written(stream, 'role ');
    known.hasFailed = true;
    await written(stream, 'error');
    await finished(stream);
    expect([stream.isFailed, begun(), client.text]).toEqual([true, 0, '']);
  });

  it('passes an error on that comes after the output', async () => {
    const { stream, client, known } = held();
    known.hasOutput = true;
    await written(stream, 'first ');
    known.hasFailed = true;
    await written(stream, 'error');
    await finished(stream);
    expect([stream.isFailed, client.text]).toEqual([false, 'first error']);
  });

  it('passes a stream on that ends without any output', async () => {
    const { stream, client, begun } = held();
    await written(stream, 'role');
    await finished(stream);
    expect([stream.isFailed, begun(), client.text, client.writableFinished]).toEqual([false, 1, 'role', true]);
    const empty = held();
    await finished(empty.stream);
    expect([empty.begun(), empty.client.writableFinished]).toEqual([1, true]);
  });

  it('holds 64 KiB, and no more', async () => {
    const { stream, client, begun } = held();
    await written(stream, 'x'.repeat(65_536));
    expect(begun()).toBe(0);
    await written(stream, 'x');
    expect([begun(), client.text.length]).toEqual([1, 65_537]);
  });

  it('waits for a client that is slow', async () => {
    const { stream, client, known } = held(new Client(true));
    known.hasOutput = true;
    let taken = 0;
    const done = (): void => void (taken += 1);
    stream.write('one', done);
    stream.write('two', done);
    await nextTurn();
    expect([taken, client.text]).toEqual([0, 'one']);
    client.release?.();
    await nextTurn();
    expect([taken, client.text]).toEqual([1, 'onetwo']);
  });

  it('takes everything when its client is gone, so that the provider call can end', async () => {
    const { stream, client, known } = held(new Client(true));
    known.hasOutput = true;
    const first = written(stream, 'one');
    await nextTurn();
    client.destroy();
    await first;
    await written(stream, 'two');
    await finished(stream);
    expect(client.text).toBe('one');
  });

  it('breaks off the answer that it has begun when it is destroyed, and begins none', async () => {
    const { stream, client, known } = held();
    known.hasOutput = true;
    await written(stream, 'one');
    stream.destroy();
    await nextTurn();
    expect([client.destroyed, client.writableFinished]).toEqual([true, false]);
    const unbegun = held();
    await written(unbegun.stream, 'role');
    unbegun.stream.destroy();
    await nextTurn();
    expect([unbegun.begun(), unbegun.client.destroyed]).toEqual([0, false]);
  });
});
