// The scripted model behind Bedrock's Converse: answers as binary event streams.
import { EventStreamCodec } from '@smithy/eventstream-codec';
import { inputPieces, nextTurn, piecesOf, USAGE } from './scripted-turn.mjs';

const CONVERSE = /^\/model\/[^/]+\/converse-stream$/;
const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes).toString('utf8'),
  (text) => Buffer.from(text, 'utf8'),
);

/** For `otherwise` of the scripted provider. */
export function converseAnswer(_method, { pathname }, { messages = [], toolConfig = {} }) {
  if (!CONVERSE.test(pathname)) return { status: 404, json: { message: `nothing at ${pathname}` } };
  const offered = (toolConfig.tools ?? []).map(({ toolSpec }) => ({
    name: toolSpec.name,
    schema: toolSpec.inputSchema.json,
  }));
  const results = messages
    .flatMap(({ content }) => content)
    .filter(({ toolResult }) => toolResult !== undefined)
    .map(({ toolResult }) => toolResult.content.map(({ text = '' }) => text).join(''));
  const { text, call } = nextTurn(offered, results);
  const start = call === undefined ? undefined : { toolUse: { toolUseId: 'tooluse_1', name: call.name } };
  const pieces = call === undefined ? piecesOf(text) : inputPieces(call.input);
  const events = [
    ['messageStart', { role: 'assistant' }],
    ...(start === undefined ? [] : [['contentBlockStart', { contentBlockIndex: 0, start }]]),
    ...pieces.map((piece) => [
      'contentBlockDelta',
      { contentBlockIndex: 0, delta: call === undefined ? { text: piece } : { toolUse: { input: piece } } },
    ]),
    ['contentBlockStop', { contentBlockIndex: 0 }],
    ['messageStop', { stopReason: call === undefined ? 'end_turn' : 'tool_use' }],
    ['metadata', { usage: usageOf(USAGE), metrics: { latencyMs: 1 } }],
  ];
  const bytes = Buffer.concat(events.map(([name, payload]) => frameOf(name, payload)));
  return { status: 200, bytes, type: 'application/vnd.amazon.eventstream' };
}

function usageOf({ input, output }) {
  return { inputTokens: input, outputTokens: output, totalTokens: input + output };
}

function frameOf(name, payload) {
  const headers = { ':message-type': 'event', ':event-type': name, ':content-type': 'application/json' };
  const typed = Object.entries(headers).map(([key, value]) => [key, { type: 'string', value }]);
  return codec.encode({ headers: Object.fromEntries(typed), body: Buffer.from(JSON.stringify(payload)) });
}
