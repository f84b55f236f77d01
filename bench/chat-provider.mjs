// A provider of chats for benchmarks, as a process of its own. The path says how it answers: /whole with 2 KB, /stream with 100
// events, each in a turn of its own, /hold with one event and no end. It must be cheap, as fake-provider.mjs.
import { createServer } from 'node:http';
import { announce } from './child.mjs';
import { EVENTS } from './chat-bodies.mjs';

const ANSWER_BYTES = 2_048;
const HEAD = { id: 'chatcmpl-1', created: 1_700_000_000, model: 'gpt-5-mini' };
const USAGE = { prompt_tokens: 900, completion_tokens: 120, total_tokens: 1_020 };
const whole = Buffer.from(JSON.stringify(wholeAnswer()));
const events = streamOf(EVENTS);

const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    if (request.url.startsWith('/whole')) return answerWhole(response);
    response.writeHead(200, ['content-type', 'text/event-stream']);
    if (request.url.startsWith('/hold')) response.write(events[0]);
    else write(response, 0);
  });
});
server.keepAliveTimeout = 120_000;
server.listen(0, '127.0.0.1', () => announce(server.address().port));

function answerWhole(response) {
  response.writeHead(200, ['content-type', 'application/json', 'content-length', String(whole.length)]);
  response.end(whole);
}

function write(response, at) {
  if (at === events.length) return void response.end();
  response.write(events[at]);
  setImmediate(write, response, at + 1);
}

function wholeAnswer() {
  const message = { role: 'assistant', content: '' };
  const choices = [{ index: 0, message, finish_reason: 'stop' }];
  const answer = { ...HEAD, object: 'chat.completion', choices, usage: USAGE };
  message.content = 'x'.repeat(ANSWER_BYTES - JSON.stringify(answer).length);
  return answer;
}

/** The last two are the usage and the end mark. */
function streamOf(count) {
  const chunk = (more) => `data: ${JSON.stringify({ ...HEAD, object: 'chat.completion.chunk', ...more })}\n\n`;
  const word = chunk({ choices: [{ index: 0, delta: { content: 'word ' }, finish_reason: null }] });
  const texts = [...Array(count - 2).fill(word), chunk({ choices: [], usage: USAGE }), 'data: [DONE]\n\n'];
  return texts.map((text) => Buffer.from(text));
}
