import { describe, expect, it } from '@jest/globals';
import { readMembers } from '../../common/json/members.js';
import { openaiEmbeddings } from './openai-embeddings.dialect.js';

function callOf(text: string) {
  const bytes = Buffer.from(text);
  const facts = openaiEmbeddings.readFacts(readMembers(bytes, openaiEmbeddings.members), bytes);
  return { facts, bytes, knownModel: undefined, hidesReasoning: false };
}

const CALL = callOf('{"model":"m","input":["one","two"]}');

describe('the bound of embeddings', () => {
  it('is in tokens of input', () => {
    const { unit, counts, unbounded } = openaiEmbeddings.estimate(CALL);
    expect([unit, unbounded]).toEqual(['input', undefined]);
    expect(counts.input).toBeGreaterThanOrEqual(CALL.bytes.length);
    expect(counts).not.toHaveProperty('output');
  });

  it('is not there for a film', () => {
    const call = callOf('{"model":"m","input":[{"video_url":"https://a.example/1.mp4"}]}');
    expect(openaiEmbeddings.estimate(call).unbounded).toBe('input');
  });
});

describe('the answer of embeddings', () => {
  it.each([
    [{ prompt_tokens: 9, total_tokens: 9 }, 9],
    [{ total_tokens: 7 }, 7],
  ])('is metered by its usage: %j', (usage, input) => {
    const meter = openaiEmbeddings.newMeter(CALL);
    meter.push(Buffer.from(JSON.stringify({ object: 'list', data: [], usage })));
    expect(meter.usage).toEqual({ counts: { input } });
  });

  it.each(['{"usage":{}}', '{"data":[]}', '{'])('says nothing with %s', (text) => {
    const meter = openaiEmbeddings.newMeter(CALL);
    meter.push(Buffer.from(text));
    expect(meter.usage).toEqual({ counts: {}, isComputed: true });
  });
});
