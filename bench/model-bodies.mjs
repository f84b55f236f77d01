// Bodies of the calls that are forwarded to providers, whose fields the API description leaves open: what each can be, and
// which of its fields the gateway may read.
const CHAT = {
  example: { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 16 },
  places: [
    'messages',
    'messages.0.content',
    'messages.0.content.0.text',
    'messages.0.tool_calls',
    'tools',
    'tools.0.function.parameters',
    'stop',
    'response_format',
    'stream_options',
  ],
};

const RESPONSE = {
  example: { model: 'gpt-4o-mini', input: 'Hello', max_output_tokens: 16 },
  places: [
    'input',
    'input.0.content',
    'input.0.content.0.text',
    'tools',
    'tools.0.parameters',
    'text',
    'reasoning',
    'include',
  ],
};

const MESSAGE = {
  example: { model: 'claude-sonnet-4-5', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 16 },
  places: [
    'messages',
    'messages.0.content',
    'messages.0.content.0.source',
    'system',
    'tools',
    'tools.0.input_schema',
    'stop_sequences',
    'thinking',
    'mcp_servers',
  ],
};

/** By path; `COMMON` on top of each. */
const BODIES = {
  '/v1/chat/completions': CHAT,
  '/v1/completions': {
    example: { model: 'm', prompt: 'Hello', max_tokens: 16 },
    places: ['prompt', 'prompt.0', 'stop'],
  },
  '/v1/responses': RESPONSE,
  '/v1/responses/compact': RESPONSE,
  '/v1/responses/input_tokens': RESPONSE,
  '/v1/messages': MESSAGE,
  '/v1/messages/count_tokens': MESSAGE,
  '/v1/embeddings': { example: { model: 'text-embedding-3-small', input: 'Hello' }, places: ['input', 'input.0'] },
  '/v1/batches': {
    example: { endpoint: '/v1/chat/completions', input_file_id: 'file-1', completion_window: '24h' },
    places: ['input_file_id'],
  },
  '/v1/fine_tuning/jobs': {
    example: { model: 'gpt-4o-mini', training_file: 'file-1' },
    places: ['integrations', 'hyperparameters', 'method', 'method.supervised.hyperparameters'],
  },
  '/v1/threads': { example: {}, places: ['messages', 'messages.0.attachments', 'tool_resources'] },
  '/v1/threads/runs': { example: { assistant_id: 'asst_1' }, places: ['thread', 'thread.messages', 'tools'] },
  '/v1/vector_stores': { example: {}, places: ['file_ids'] },
};

const COMMON = ['metadata', 'model', 'unknown'];

/** The example and the fields of a body that the API description leaves open. */
export function openBody(path) {
  const { example = {}, places = [] } = BODIES[path] ?? {};
  return { example, places: [...places, ...COMMON].map((place) => place.split('.')) };
}
