// Answers of the scripted model in Anthropic's format: messages.
import { inputPieces, nextTurn, piecesOf, USAGE } from './scripted-turn.mjs';

export function messagesAnswer({ model, stream, tools = [], messages = [] }) {
  const offered = tools
    .filter(({ type = 'custom' }) => type === 'custom')
    .map(({ name, input_schema }) => ({ name, schema: input_schema }));
  const blocks = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
  const results = blocks.filter(({ type }) => type === 'tool_result').map(({ content }) => content);
  const turn = nextTurn(offered, results);
  const { text, call } = turn;
  const block = call === undefined ? { type: 'text', text } : { type: 'tool_use', id: 'toolu_1', ...call };
  const stop_reason = call === undefined ? 'end_turn' : 'tool_use';
  const head = { id: 'msg_1', type: 'message', role: 'assistant', model, stop_sequence: null };
  const usage = { input_tokens: USAGE.input, output_tokens: USAGE.output };
  if (stream !== true) return { status: 200, json: { ...head, content: [block], stop_reason, usage } };
  const begun = { ...head, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } };
  const events = [
    { type: 'message_start', message: begun },
    {
      type: 'content_block_start',
      index: 0,
      content_block: call === undefined ? { ...block, text: '' } : { ...block, input: {} },
    },
    { type: 'ping' },
    ...deltasOf(turn).map((delta) => ({ type: 'content_block_delta', index: 0, delta })),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: USAGE.output } },
    { type: 'message_stop' },
  ];
  return { events: events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`) };
}

function deltasOf({ text, call }) {
  if (call === undefined) return piecesOf(text).map((piece) => ({ type: 'text_delta', text: piece }));
  return inputPieces(call.input).map((partial_json) => ({ type: 'input_json_delta', partial_json }));
}
