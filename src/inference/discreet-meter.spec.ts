import { describe, expect, it } from '@jest/globals';
import type { StreamMeter } from '../gateway/billable-use.js';
import { anthropicMessages } from './dialects/anthropic-messages/messages.dialect.js';
import { openaiChat } from './dialects/openai-chat/chat.dialect.js';
import { openaiResponses } from './dialects/openai-responses/responses.dialect.js';
import { DiscreetMeter } from './discreet-meter.js';

const KEY = 'sk-live/0123456789';
const ESCAPED = KEY.replaceAll('/', '\\/');
const KNOWN = { bytes: Buffer.alloc(0), knownModel: undefined, hidesReasoning: false, refusesMaxTokens: false };

const chat = openaiChat.newMeter.bind(openaiChat, {
  ...KNOWN,
  facts: openaiChat.readFacts({ model: 'm', stream: true }, Buffer.from('{"model":"m","stream":true}')),
});
const messages = anthropicMessages.newMeter.bind(anthropicMessages, {
  ...KNOWN,
  facts: anthropicMessages.readFacts({ model: 'm', stream: true, max_tokens: 1 }, Buffer.alloc(0)),
});
const responses = openaiResponses.newMeter.bind(openaiResponses, {
  ...KNOWN,
  facts: openaiResponses.readFacts({ model: 'm', stream: true }, Buffer.from('{"model":"m","stream":true}')),
});

const ROLE = `data: {"choices":[{"delta":{"role":"assistant"}}],"system_fingerprint":"${KEY}"}\n\n`;
const OUTPUT = `data: {"choices":[{"delta":{"content":"the word ${KEY}"}}]}\n\n`;
const ERROR = `data: {"error":{"message":"bad key ${KEY}, not ${ESCAPED}"}}`;
const CLEAN = 'data: {"error":{"message":"bad key ****, not ****"}}';

/** What goes on of a text that comes in these pieces. */
function passed(newMeter: () => StreamMeter, pieces: readonly string[]): string {
  const meter = new DiscreetMeter(newMeter(), [KEY]);
  const out = pieces.map((piece) => meter.push(Buffer.from(piece)).toString());
  return [...out, meter.end().toString()].join('');
}

/** For each place at which the text may be cut, and for single bytes. */
function everySplit(newMeter: () => StreamMeter, text: string): ReadonlySet<string> {
  const cuts = Array.from(text, (_byte, at) => [text.slice(0, at), text.slice(at)]);
  return new Set([...cuts, Array.from(text)].map((pieces) => passed(newMeter, pieces)));
}

describe('a secret in an error of a stream', () => {
  it.each([
    ['a chat', chat, `${ERROR}\n\n`, `${CLEAN}\n\n`],
    ['a chat whose last event has no end', chat, ERROR, CLEAN],
    ['a chat with CRLF', chat, `${ERROR}\r\n\r\n`, `${CLEAN}\r\n\r\n`],
    [
      'messages',
      messages,
      `event: error\ndata: {"type":"error","error":{"message":"${KEY}"}}\n\n`,
      'event: error\ndata: {"type":"error","error":{"message":"****"}}\n\n',
    ],
    [
      'responses',
      responses,
      `event: response.failed\ndata: {"type":"response.failed","response":{"error":{"message":"${KEY}"}}}\n\n`,
      'event: response.failed\ndata: {"type":"response.failed","response":{"error":{"message":"****"}}}\n\n',
    ],
    ['an object that is called a stream', chat, `{"error":{"message":"${KEY}"}}`, '{"error":{"message":"****"}}'],
  ])('does not pass, wherever the stream is cut: %s', (_name, newMeter, text, clean) => {
    expect(everySplit(newMeter, text)).toEqual(new Set([clean]));
  });

  it('does not pass behind output', () => {
    const begun = OUTPUT.replace(KEY, 'x');
    expect(everySplit(chat, `${begun}${ERROR}\n\n`)).toEqual(new Set([`${begun}${CLEAN}\n\n`]));
  });
});

describe('bytes outside of errors', () => {
  it('pass unchanged, wherever the stream is cut, although a weak key is a word of them', () => {
    const text = `${ROLE}${OUTPUT}data: [DONE]\n\n`;
    expect(everySplit(chat, text)).toEqual(new Set([text]));
    const message = `data: {"type":"content_block_delta","delta":{"text":"the word ${KEY}"}}\n\n`;
    expect(everySplit(messages, message)).toEqual(new Set([message]));
    const whole = `{"choices":[{"message":{"content":"${KEY}"}}],"usage":{"prompt_tokens":1}}`;
    expect(everySplit(chat, whole)).toEqual(new Set([whole]));
  });

  it('are not held back where no secret seems to begin', () => {
    const meter = new DiscreetMeter(messages(), [KEY]);
    expect(meter.push(Buffer.from('data: {"choices":[{"delta":{"content":"Hel')).toString()).toContain('Hel');
    expect(meter.push(Buffer.from('lo sk-l')).toString()).toBe('lo ');
    expect(meter.push(Buffer.from('ot"}}]}\n\n')).toString()).toBe('sk-lot"}}]}\n\n');
  });

  it('are held back no longer than an event may be', () => {
    const meter = new DiscreetMeter(messages(), [KEY]);
    const mebibyte = Buffer.alloc(1024 * 1024, 'x');
    expect(meter.push(Buffer.from(`data: {"error":{"message":"${KEY}`)).toString()).toBe('data: {"error":{"message":"');
    const out = Array.from({ length: 9 }, () => meter.push(mebibyte));
    expect(out.slice(0, 7).every(({ length }) => length === 0)).toBe(true);
    expect(Buffer.concat(out).includes(KEY)).toBe(false);
    expect(Buffer.concat(out).subarray(0, 5).toString()).toBe('****x');
  });
});
