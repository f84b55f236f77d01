// A chat model and its answers in the formats of OpenAI and Anthropic: asked with tools and without a result, it calls `add`.
const CALL = { id: 'call_1', name: 'add', input: { a: 2, b: 3 } };
const TEXT = 'The sum is 5.';
const CHAT_USAGE = { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 };
const MESSAGE_USAGE = { input_tokens: 20, output_tokens: 1 };

/** `{status, json}` or `{events}`; undefined for another address. */
export function answerOfModel(method, path, body) {
  switch (`${method} ${path}`) {
    case 'POST /v1/chat/completions':
      return chat(body);
    case 'POST /v1/messages':
      return message(body);
    case 'POST /v1/embeddings':
      return embeddings(body);
    default:
      return undefined;
  }
}

function chat({ model, stream, stream_options, tools, messages }) {
  if (model === 'unknown') {
    const error = { message: 'No such model.', type: 'invalid_request_error', param: 'model', code: 'model_not_found' };
    return { status: 404, json: { error } };
  }
  const callsTool = tools !== undefined && !messages.some(({ role }) => role === 'tool');
  const head = { id: 'chatcmpl-1', created: 1, model };
  const finish_reason = callsTool ? 'tool_calls' : 'stop';
  const call = { id: CALL.id, type: 'function', function: { name: CALL.name, arguments: JSON.stringify(CALL.input) } };
  if (stream !== true) {
    const answer = callsTool ? { content: null, tool_calls: [call] } : { content: TEXT };
    const choices = [{ index: 0, message: { role: 'assistant', ...answer }, finish_reason }];
    return { status: 200, json: { ...head, object: 'chat.completion', choices, usage: CHAT_USAGE } };
  }
  const chunk = (delta, reason = null) => ({
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: reason }],
  });
  const parts = callsTool
    ? [
        { tool_calls: [{ index: 0, ...call, function: { name: CALL.name, arguments: '' } }] },
        { tool_calls: [{ index: 0, function: { arguments: call.function.arguments.slice(0, 5) } }] },
        { tool_calls: [{ index: 0, function: { arguments: call.function.arguments.slice(5) } }] },
      ]
    : [{ content: TEXT.slice(0, 4) }, { content: TEXT.slice(4) }];
  const events = [
    chunk({ role: 'assistant', content: null }),
    ...parts.map((part) => chunk(part)),
    chunk({}, finish_reason),
  ];
  if (stream_options?.include_usage) {
    events.push({ ...head, object: 'chat.completion.chunk', choices: [], usage: CHAT_USAGE });
  }
  return { events: [...events.map((event) => `data: ${JSON.stringify(event)}\n\n`), 'data: [DONE]\n\n'] };
}

function message({ model, stream, tools, messages }) {
  const hasResult = messages.some(
    ({ content }) => Array.isArray(content) && content.some(({ type }) => type === 'tool_result'),
  );
  const callsTool = tools !== undefined && tools.length > 0 && !hasResult;
  const block = callsTool ? { type: 'tool_use', ...CALL } : { type: 'text', text: TEXT };
  const stop_reason = callsTool ? 'tool_use' : 'end_turn';
  const head = { id: 'msg_1', type: 'message', role: 'assistant', model, stop_sequence: null };
  if (stream !== true) {
    const usage = { ...MESSAGE_USAGE, output_tokens: 10 };
    return { status: 200, json: { ...head, content: [block], stop_reason, usage } };
  }
  const empty = callsTool ? { ...block, input: {} } : { ...block, text: '' };
  const json = JSON.stringify(CALL.input);
  const deltas = callsTool
    ? [json.slice(0, 5), json.slice(5)].map((partial_json) => ({ type: 'input_json_delta', partial_json }))
    : [TEXT.slice(0, 4), TEXT.slice(4)].map((text) => ({ type: 'text_delta', text }));
  const events = [
    { type: 'message_start', message: { ...head, content: [], stop_reason: null, usage: MESSAGE_USAGE } },
    { type: 'content_block_start', index: 0, content_block: empty },
    { type: 'ping' },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index: 0, delta })),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 10 } },
    { type: 'message_stop' },
  ];
  return { events: events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`) };
}

function embeddings({ model, encoding_format }) {
  const numbers = new Float32Array([1, 2]);
  const embedding = encoding_format === 'base64' ? Buffer.from(numbers.buffer).toString('base64') : [...numbers];
  const data = [{ object: 'embedding', index: 0, embedding }];
  return { status: 200, json: { object: 'list', data, model, usage: { prompt_tokens: 1, total_tokens: 1 } } };
}
