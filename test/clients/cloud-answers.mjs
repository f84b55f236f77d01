// Answers of Bedrock, Gemini and Vertex to one question, in the forms of their own APIs.
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
  if (url.pathname === '/google/token') return json({ access_token: 'ya29.client', expires_in: 3599 });
  const ofVertex = /^\/v1\/projects\/my-project\/locations\/global(\/.+)$/.exec(url.pathname)?.[1];
  if (ofVertex !== undefined) return vertexAnswer(ofVertex);
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

function vertexAnswer(path) {
  const ofGoogle = /^\/publishers\/google\/models\/gemini-2\.5-flash:(\w+)$/.exec(path)?.[1];
  if (ofGoogle !== undefined) return geminiAnswer(ofGoogle);
  switch (path) {
    case '/publishers/anthropic/models/claude-sonnet-4-5@20250929:rawPredict':
      return json(MESSAGE);
    case '/publishers/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict':
      return { status: 200, events: MESSAGE_EVENTS };
    case '/publishers/anthropic/models/count-tokens:rawPredict':
      return json({ input_tokens: 20 });
    case '/endpoints/openapi/chat/completions':
      return json({
        object: 'chat.completion',
        choices: [{ index: 0, message: { role: 'assistant', content: SAID }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 },
      });
    default:
      return { status: 404, json: { error: { code: 404, message: `nothing at ${path}`, status: 'NOT_FOUND' } } };
  }
}

const MESSAGE_HEAD = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5' };
const MESSAGE = {
  ...MESSAGE_HEAD,
  content: [{ type: 'text', text: SAID }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 20, output_tokens: 10 },
};
const MESSAGE_EVENTS = [
  { type: 'message_start', message: { ...MESSAGE_HEAD, content: [], usage: { input_tokens: 20, output_tokens: 1 } } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: SAID } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 10 } },
  { type: 'message_stop' },
].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);

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
