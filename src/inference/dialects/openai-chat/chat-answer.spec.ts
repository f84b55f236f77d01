import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { AnswerMeter, type MeterOptions } from '../answer-meter.js';
import { CHAT_ANSWER } from './chat-answer.js';

const ASKED: MeterOptions = { hidesUsage: false, hidesReasoning: false };
const HIDING: MeterOptions = { ...ASKED, hidesUsage: true };

const ROLE = 'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}\n\n';
const WORD = 'data: {"choices":[{"index":0,"delta":{"content":"w\\"ö"}}],"usage":null}\n\n';
const TOOL = 'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}}]}\n\n';
const USAGE = 'data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":5}}\n\n';
const LAST = 'data: {"choices":[{"index":0,"delta":{}}],"usage":{"prompt_tokens":9,"completion_tokens":5}}\r\n\r\n';
const DONE = 'data: [DONE]\n\n';

function pass(meter: AnswerMeter, chunks: readonly Buffer[]): string {
  return Buffer.concat([...chunks.map((chunk) => meter.push(chunk)), meter.end()]).toString();
}

function split(text: string, cuts: readonly number[]): readonly Buffer[] {
  const bytes = Buffer.from(text);
  const places = [...cuts.map((cut) => cut % (bytes.length + 1)), 0, bytes.length].sort((a, b) => a - b);
  return places.slice(1).map((end, index) => bytes.subarray(places[index], end));
}

describe('a stream', () => {
  it('passes unchanged, and is metered, however it is cut', () => {
    const text = ROLE + WORD + TOOL + USAGE + DONE;
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 12 }), (cuts) => {
        const meter = new AnswerMeter(CHAT_ANSWER, ASKED);
        expect(pass(meter, split(text, cuts))).toBe(text);
        expect(meter.usage).toEqual({ counts: expect.objectContaining({ input: 9, output: 5 }) });
      }),
    );
  });

  it('loses the chunk of the usage that its caller did not ask for, however it is cut, and nothing else', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 12 }), (cuts) => {
        const meter = new AnswerMeter(CHAT_ANSWER, HIDING);
        expect(pass(meter, split(`: ping\n\n${ROLE + WORD + USAGE + LAST + DONE}data: rest`, cuts))).toBe(
          `: ping\n\n${ROLE + WORD + LAST + DONE}data: rest`,
        );
        expect(meter.usage.counts).toMatchObject({ input: 9, output: 5 });
      }),
    );
  });

  it.each([
    [ROLE, 0],
    [WORD, 5],
    [WORD + TOOL, 7],
    ['data: {"choices":[{"delta":{"content":[{"type":"text","text":"part"}]}}]}\n\n', 4],
    ['data: {"choices": [{"delta": {"content": "word", "refusal": null}}]}\n\n', 4],
  ])('counts the bytes of the output as long as no usage has come: %s', (text, output) => {
    const meter = new AnswerMeter(CHAT_ANSWER, ASKED);
    meter.push(Buffer.from(text));
    expect(meter.usage).toEqual({ counts: { output }, isComputed: true });
    expect(meter.hasOutput).toBe(output > 0);
  });

  it('does not take the zeros of its last event for usage', () => {
    const used = (prompt_tokens: number, completion_tokens: number): Buffer =>
      Buffer.from(`data: {"choices":[],"usage":${JSON.stringify({ prompt_tokens, completion_tokens })}}\n\n`);
    const meter = new AnswerMeter(CHAT_ANSWER, HIDING);
    meter.push(Buffer.from(WORD));
    expect(meter.push(used(0, 0)).toString()).toBe('');
    expect(meter.usage).toEqual({ counts: { output: 5 }, isComputed: true });
    meter.push(used(9, 7));
    meter.push(used(0, 0));
    expect(meter.usage.counts).toMatchObject({ input: 9, output: 7 });
  });

  it('says nothing about output that may be hidden', () => {
    const meter = new AnswerMeter(CHAT_ANSWER, { ...ASKED, hidesReasoning: true });
    meter.push(Buffer.from(WORD));
    expect(meter.usage).toEqual({ counts: {}, isComputed: true });
  });

  it('passes an event that is too long to be read, and reads those after it', () => {
    const long = `data: "${'x'.repeat(9 * 1024 * 1024)}"\n\n`;
    const pieces = [100_000, 700_000, 8_400_000];
    expect(pass(new AnswerMeter(CHAT_ANSWER, ASKED), split(WORD + long + USAGE, pieces))).toBe(WORD + long + USAGE);
    const hiding = new AnswerMeter(CHAT_ANSWER, HIDING);
    expect(pass(hiding, split(WORD + long + USAGE + DONE, pieces))).toBe(WORD + long + DONE);
    expect(hiding.usage.counts).toMatchObject({ input: 9, output: 5 });
  });

  it('loses the chunk of the usage and not one line end more, wherever its CRLF are cut', () => {
    const [word, usage, done] = [WORD, USAGE, DONE].map((text) => text.replaceAll('\n', '\r\n'));
    const text = `${word}${usage}${done}`;
    for (let cut = 0; cut <= Buffer.byteLength(text); cut += 1)
      expect(pass(new AnswerMeter(CHAT_ANSWER, HIDING), split(text, [cut]))).toBe(`${word}${done}`);
  });

  it.each(['\n', ''])('reads a last event that ends in %j', (end) => {
    for (const options of [ASKED, HIDING]) {
      const meter = new AnswerMeter(CHAT_ANSWER, options);
      meter.push(Buffer.from(WORD + USAGE.trimEnd() + end));
      meter.end();
      expect(meter.usage).toEqual({ counts: expect.objectContaining({ input: 9, output: 5 }) });
    }
  });
});

describe('a whole answer', () => {
  it('is metered by its usage', () => {
    const answer = Buffer.from('\n{"choices":[{}],"usage":{"prompt_tokens":9,"completion_tokens":5}}');
    const meter = new AnswerMeter(CHAT_ANSWER, ASKED);
    expect(meter.push(answer)).toBe(answer);
    expect(meter.usage.counts).toMatchObject({ input: 9, output: 5 });
  });

  it.each([
    ['{"choices":[{}],"usage":{"prompt_tokens":0,"completion_tokens":0}}', {}],
    ['{"error":{},"usage":{"prompt_tokens":0,"completion_tokens":0}}', { input: 0, output: 0 }],
  ])('whose usage is zero has used what is not known, unless it is an error: %s', (answer, counts) => {
    const meter = new AnswerMeter(CHAT_ANSWER, ASKED);
    meter.push(Buffer.from(answer));
    expect(meter.usage).toEqual({ counts, isComputed: true });
  });

  it('may begin with a byte order mark', () => {
    const meter = new AnswerMeter(CHAT_ANSWER, ASKED);
    meter.push(Buffer.from('\u{feff}{"usage":{"prompt_tokens":9,"completion_tokens":5}}'));
    expect(meter.usage.counts).toMatchObject({ input: 9, output: 5 });
  });

  it('is read in pieces where its server calls it a stream, up to a size', () => {
    const text = ' {"usage":{"prompt_tokens":9,"completion_tokens":5},"x":"{}"}';
    for (let cut = 0; cut <= text.length; cut += 1) {
      const meter = new AnswerMeter(CHAT_ANSWER, HIDING);
      expect(pass(meter, split(text, [cut]))).toBe(text);
      expect(meter.usage.counts).toMatchObject({ input: 9, output: 5 });
    }
    const meter = new AnswerMeter(CHAT_ANSWER, ASKED);
    const long = text.replace('{}', 'x'.repeat(9 * 1024 * 1024));
    expect(pass(meter, split(long, [5_000_000, 8_400_000]))).toBe(long);
    expect(meter.usage).toEqual({ counts: {}, isComputed: true });
  });

  it.each([
    ['{"error":{"message":"busy","code":504}}', { counts: { input: 0, output: 0 }, isComputed: true }],
    ['{"error":{"message":"busy"},"choices":[{}]}', { counts: {}, isComputed: true }],
    ['{"error":null}', { counts: {}, isComputed: true }],
  ])('costs nothing when it is an error alone: %s', (text, usage) => {
    const meter = new AnswerMeter(CHAT_ANSWER, ASKED);
    meter.push(Buffer.from(text));
    expect(meter.usage).toEqual(usage);
  });

  it.each(['{"choices":[]}', '{"usage":{}}', '{'])('has no usage in %s', (text) => {
    const meter = new AnswerMeter(CHAT_ANSWER, ASKED);
    meter.push(Buffer.from(text));
    expect(meter.usage).toEqual({ counts: {}, isComputed: true });
  });
});
