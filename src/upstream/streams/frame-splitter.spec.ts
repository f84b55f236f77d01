import { describe, expect, it } from '@jest/globals';
import { readAwsEvent, writeAwsEvent } from './aws-events.js';
import { FrameSplitter } from './frame-splitter.js';

const FRAMES = ['a', 'b'.repeat(5_000), ''].map((text) =>
  writeAwsEvent({ kind: 'event', name: 'chunk', payload: Buffer.from(text) }),
);
const STREAM = Buffer.concat(FRAMES);

describe('FrameSplitter', () => {
  it.each([1, 3, 4, 5, 100, STREAM.length])('finds the same frames in pieces of %i bytes', (size) => {
    const splitter = new FrameSplitter();
    const found: Buffer[] = [];
    for (let at = 0; at < STREAM.length; at += size) found.push(...splitter.push(STREAM.subarray(at, at + size)));
    expect(found.map((frame) => frame.toString('hex'))).toEqual(FRAMES.map((frame) => frame.toString('hex')));
    expect(splitter.isBetweenFrames).toBe(true);
  });

  it.each([1, 4, 20])('is within a frame after %i bytes', (size) => {
    const splitter = new FrameSplitter();
    expect(splitter.push(STREAM.subarray(0, size))).toEqual([]);
    expect(splitter.isBetweenFrames).toBe(false);
  });

  it.each([0, 15, 0xffffffff])('refuses a frame of %i bytes', (length) => {
    const prelude = Buffer.alloc(4);
    prelude.writeUInt32BE(length);
    expect(() => new FrameSplitter().push(prelude)).toThrow(expect.objectContaining({ kind: 'incomplete' }));
  });
});

describe('readAwsEvent', () => {
  it.each(['event', 'exception'] as const)('reads an %s that was written', (kind) => {
    const event = { kind, name: 'some', payload: Buffer.from('{"a":1}') };
    expect(readAwsEvent(writeAwsEvent(event))).toEqual(event);
  });

  it('reads nothing in a frame whose checksum is wrong', () => {
    const frame = writeAwsEvent({ kind: 'event', name: 'some', payload: Buffer.from('{}') });
    frame[frame.length - 1] = (frame.at(-1) ?? 0) ^ 1;
    expect(readAwsEvent(frame)).toBeUndefined();
  });
});
