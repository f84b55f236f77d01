import { setTimeout as sleep } from 'node:timers/promises';
import type { Reply } from './fake-provider.js';

const WORDS = 12;
const ROLE = `data: ${JSON.stringify({ id: 'c-1', choices: [{ index: 0, delta: { role: 'assistant' } }] })}\n\n`;
const WORD = `data: ${JSON.stringify({ id: 'c-1', choices: [{ index: 0, delta: { content: 'word ' } }] })}\n\n`;
const ERROR = `event: error\ndata: ${JSON.stringify({ error: { message: 'overloaded', type: 'server_error' } })}\n\n`;
const END = 'data: [DONE]\n\n';

/** Chats that end in one of the ways in which streams of providers end, at random: some before their output. */
export const faultyStream: Reply = (response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  void (async () => {
    response.write(ROLE);
    if (Math.random() < 0.25) {
      await sleep(Math.random() * 15);
      return void response.destroy();
    }
    const words = 1 + Math.floor(Math.random() * WORDS);
    for (let word = 0; word < words; word += 1) {
      response.write(WORD);
      await sleep(2 + Math.random() * 15);
    }
    const end = Math.random();
    if (end < 0.2) response.destroy();
    else if (end < 0.35) response.end(ERROR);
    else response.end(usageOf(words) + END);
  })();
};

/** Within the bound of the call. */
function usageOf(words: number): string {
  const usage = { prompt_tokens: 20, completion_tokens: 2 * words, total_tokens: 20 + 2 * words };
  return `data: ${JSON.stringify({ id: 'c-1', choices: [], usage })}\n\n`;
}
