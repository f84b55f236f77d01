// A provider whose model asks for one tool of the agent, and answers when it has the tool's result.
import { once } from 'node:events';
import { createServer } from 'node:http';

export const RESULT = 'from-the-tool';
const COMMAND = `echo ${RESULT}`;
/** The tools with which the versions of Codex run a command, and their arguments. */
const SHELLS = { exec_command: { cmd: COMMAND }, shell_command: { command: COMMAND } };

/** @returns its address, and what was asked of it */
export async function startModel() {
  const calls = [];
  const server = createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const body = text === '' ? {} : JSON.parse(text);
      const { pathname } = new URL(request.url, 'http://model');
      calls.push({ path: pathname, headers: request.headers, body });
      if (pathname === '/v1/messages') answerMessages(body, response);
      else if (pathname === '/v1/responses') answerResponses(body, response);
      else response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":{"message":"not here"}}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${server.address().port}`, calls, close: () => server.close() };
}

/** What the model says at the end: it has seen the result of the tool, or it has not. */
const saidOf = (conversation) => `The tool said ${conversation.includes(RESULT) ? RESULT : 'nothing'}.`;

function answerMessages({ model, messages, tools = [] }, response) {
  const conversation = JSON.stringify(messages);
  const event = eventWriter(response);
  const usage = { input_tokens: 20, output_tokens: 1 };
  event('message_start', { message: { id: 'msg_1', type: 'message', role: 'assistant', model, content: [], usage } });
  event('ping', {});
  const asksForTool = tools.some(({ name }) => name === 'Bash') && !conversation.includes('tool_result');
  const [block, deltas] = asksForTool
    ? [
        { type: 'tool_use', id: 'toolu_1', name: 'Bash', input: {} },
        [`{"command":"${COMMAND}",`, '"description":"Say it"}'].map((partial_json) => ({
          type: 'input_json_delta',
          partial_json,
        })),
      ]
    : [{ type: 'text', text: '' }, [{ type: 'text_delta', text: saidOf(conversation) }]];
  event('content_block_start', { index: 0, content_block: block });
  for (const delta of deltas) event('content_block_delta', { index: 0, delta });
  event('content_block_stop', { index: 0 });
  const stop_reason = asksForTool ? 'tool_use' : 'end_turn';
  event('message_delta', { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 7 } });
  event('message_stop', {});
  response.end();
}

function answerResponses({ model, input, tools = [] }, response) {
  const conversation = JSON.stringify(input);
  const event = eventWriter(response);
  const base = { id: 'resp_1', object: 'response', created_at: 1, model };
  event('response.created', { response: { ...base, status: 'in_progress', output: [], usage: null } });
  const shell = tools.map(({ name }) => name).find((name) => name in SHELLS);
  const item =
    shell !== undefined && !conversation.includes('function_call_output')
      ? { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: shell, arguments: JSON.stringify(SHELLS[shell]) }
      : {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          content: [{ type: 'output_text', text: saidOf(conversation), annotations: [] }],
        };
  event('response.output_item.added', { output_index: 0, item: { ...item, status: 'in_progress' } });
  event('response.output_item.done', { output_index: 0, item: { ...item, status: 'completed' } });
  const usage = { input_tokens: 30, output_tokens: 8, total_tokens: 38 };
  event('response.completed', { response: { ...base, status: 'completed', output: [item], usage } });
  response.end();
}

function eventWriter(response) {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  let sequence_number = 0;
  return (type, data) => {
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, sequence_number, ...data })}\n\n`);
    sequence_number += 1;
  };
}
