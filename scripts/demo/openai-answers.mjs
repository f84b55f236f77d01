// Answers of the scripted model in OpenAI's formats: chat completions, responses and embeddings.
import { inputPieces, nextTurn, piecesOf, USAGE } from './scripted-turn.mjs';

const CALL_ID = 'call_1';
const CREATED = 1_700_000_000;
const VECTOR = [0.25, -0.5, 0.5, -0.25];
const CHAT_USAGE = {
  prompt_tokens: USAGE.input,
  completion_tokens: USAGE.output,
  total_tokens: USAGE.input + USAGE.output,
};
const RESPONSE_USAGE = {
  input_tokens: USAGE.input,
  output_tokens: USAGE.output,
  total_tokens: USAGE.input + USAGE.output,
};

export function chatAnswer({ model, stream, stream_options, tools = [], messages = [] }) {
  const offered = tools.filter(({ type }) => type === 'function').map(({ function: f }) => toTool(f));
  const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
  const turn = nextTurn(offered, results);
  const finish_reason = turn.call === undefined ? 'stop' : 'tool_calls';
  const head = { id: 'chatcmpl-1', created: CREATED, model };
  if (stream !== true) {
    const choices = [{ index: 0, message: chatMessage(turn), finish_reason }];
    return { status: 200, json: { ...head, object: 'chat.completion', choices, usage: CHAT_USAGE } };
  }
  const chunk = (choices, usage) => ({ ...head, object: 'chat.completion.chunk', choices, ...usage });
  const delta = (delta, reason = null) => chunk([{ index: 0, delta, finish_reason: reason }]);
  const chunks = [
    delta({ role: 'assistant', content: null }),
    ...chatDeltas(turn).map((part) => delta(part)),
    delta({}, finish_reason),
    ...(stream_options?.include_usage === true ? [chunk([], { usage: CHAT_USAGE })] : []),
  ];
  return { events: [...chunks.map((one) => `data: ${JSON.stringify(one)}\n\n`), 'data: [DONE]\n\n'] };
}

function chatMessage({ text, call }) {
  if (call === undefined) return { role: 'assistant', content: text };
  const called = { name: call.name, arguments: JSON.stringify(call.input) };
  return { role: 'assistant', content: null, tool_calls: [{ id: CALL_ID, type: 'function', function: called }] };
}

function chatDeltas({ text, call }) {
  if (call === undefined) return piecesOf(text).map((content) => ({ content }));
  const begun = { index: 0, id: CALL_ID, type: 'function', function: { name: call.name, arguments: '' } };
  const rest = inputPieces(call.input).map((piece) => ({ index: 0, function: { arguments: piece } }));
  return [begun, ...rest].map((part) => ({ tool_calls: [part] }));
}

export function responsesAnswer({ model, stream, tools = [], input }) {
  const offered = tools.flatMap(responseTools);
  const items = Array.isArray(input) ? input : [];
  const results = items.filter(({ type }) => type === 'function_call_output').map(({ output }) => output);
  const turn = nextTurn(offered, results);
  const item = responseItem(turn);
  const begun = { id: 'resp_1', object: 'response', created_at: CREATED, model, status: 'in_progress', output: [] };
  const done = { ...begun, status: 'completed', output: [item], usage: RESPONSE_USAGE };
  if (stream !== true) return { status: 200, json: done };
  const events = [
    { type: 'response.created', response: begun },
    { type: 'response.output_item.added', output_index: 0, item: emptyItem(item) },
    ...responseDeltas(turn, { item_id: item.id, output_index: 0 }),
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: done },
  ];
  return {
    events: events.map(
      (event, index) => `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: index })}\n\n`,
    ),
  };
}

function responseItem({ text, call }) {
  const status = 'completed';
  if (call === undefined) {
    return { type: 'message', id: 'msg_1', role: 'assistant', status, content: [outputText(text)] };
  }
  const { input, ...names } = call;
  return { type: 'function_call', id: 'fc_1', call_id: CALL_ID, ...names, arguments: JSON.stringify(input), status };
}

/** A namespace has tools of its own. */
function responseTools(tool) {
  if (tool.type === 'namespace') {
    return tool.tools.flatMap(responseTools).map((inner) => ({ ...inner, namespace: tool.name }));
  }
  return tool.type === 'function' ? [toTool(tool)] : [];
}

function emptyItem(item) {
  const empty = item.type === 'message' ? { content: [] } : { arguments: '' };
  return { ...item, ...empty, status: 'in_progress' };
}

function responseDeltas({ text, call }, place) {
  if (call !== undefined) {
    const type = 'response.function_call_arguments';
    const pieces = inputPieces(call.input).map((delta) => ({ type: `${type}.delta`, ...place, delta }));
    return [...pieces, { type: `${type}.done`, ...place, name: call.name, arguments: JSON.stringify(call.input) }];
  }
  const at = { ...place, content_index: 0 };
  return [
    { type: 'response.content_part.added', ...at, part: outputText('') },
    ...piecesOf(text).map((delta) => ({ type: 'response.output_text.delta', ...at, delta, logprobs: [] })),
    { type: 'response.output_text.done', ...at, text, logprobs: [] },
    { type: 'response.content_part.done', ...at, part: outputText(text) },
  ];
}

function outputText(text) {
  return { type: 'output_text', text, annotations: [] };
}

function toTool({ name, parameters }) {
  return { name, schema: parameters };
}

/** The same vector for every input. */
export function embeddingsAnswer({ model, input, encoding_format }) {
  const isBase64 = encoding_format === 'base64';
  const embedding = isBase64 ? Buffer.from(new Float32Array(VECTOR).buffer).toString('base64') : VECTOR;
  const inputs = Array.isArray(input) && typeof input[0] !== 'number' ? input : [input];
  const data = inputs.map((_, index) => ({ object: 'embedding', index, embedding }));
  const usage = { prompt_tokens: USAGE.input, total_tokens: USAGE.input };
  return { status: 200, json: { object: 'list', data, model, usage } };
}
