// Answers of Bedrock and Gemini to one question, in the forms of their own APIs.
import { EventStreamCodec } from '@smithy/eventstream-codec';

const SAID = 'Hello from the cloud.';
const USAGE = { inputTokens: 20, outputTokens: 10, totalTokens: 30 };
const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString()),
  (text) => Buffer.from(text),
);

/** undefined: the address is not one of theirs. */
export function cloudAnswer(url) {
  const operation = /^\/model\/[^/]+\/(.+)$/.exec(url.pathname)?.[1];
  if (operation !== undefined) return bedrockAnswer(operation);
  const called = /^\/v1beta\/models\/[^/]+:(\w+)$/.exec(url.pathname)?.[1];
  return called === undefined ? undefined : geminiAnswer(called);
}

function bedrockAnswer(operation) {
  switch (operation) {
    case 'converse':
      return json({
        output: { message: { role: 'assistant', content: [{ text: SAID }] } },
        stopReason: 'end_turn',
        usage: USAGE,
      });
    case 'converse-stream':
      return frames([
        ['messageStart', { role: 'assistant' }],
        ['contentBlockDelta', { contentBlockIndex: 0, delta: { text: SAID } }],
        ['contentBlockStop', { contentBlockIndex: 0 }],
        ['messageStop', { stopReason: 'end_turn' }],
        ['metadata', { usage: USAGE, metrics: { latencyMs: 1 } }],
      ]);
    case 'invoke':
      return json({ said: SAID });
    default: {
      const metrics = { 'amazon-bedrock-invocationMetrics': { inputTokenCount: 20, outputTokenCount: 10 } };
      const bytes = Buffer.from(JSON.stringify({ said: SAID, ...metrics })).toString('base64');
      return frames([['chunk', { bytes }]]);
    }
  }
}

function geminiAnswer(operation) {
  const usageMetadata = { promptTokenCount: 20, candidatesTokenCount: 10, totalTokenCount: 30 };
  const content = { role: 'model', parts: [{ text: SAID }] };
  const answer = { candidates: [{ content, finishReason: 'STOP' }], usageMetadata };
  switch (operation) {
    case 'generateContent':
      return json(answer);
    case 'streamGenerateContent':
      return { status: 200, events: [`data: ${JSON.stringify(answer)}\n\n`] };
    case 'countTokens':
      return json({ totalTokens: 20 });
    default:
      return json({ embeddings: [{ values: [0.5] }] });
  }
}

function json(answer) {
  return { status: 200, json: answer };
}

function frames(events) {
  const bytes = events.map(([name, payload]) =>
    codec.encode({
      headers: {
        ':event-type': { type: 'string', value: name },
        ':content-type': { type: 'string', value: 'application/json' },
        ':message-type': { type: 'string', value: 'event' },
      },
      body: Buffer.from(JSON.stringify(payload)),
    }),
  );
  return { status: 200, bytes: Buffer.concat(bytes), type: 'application/vnd.amazon.eventstream' };
}
