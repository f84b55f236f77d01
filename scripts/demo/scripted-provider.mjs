// A provider on loopback whose model follows a script. It speaks the formats of OpenAI and Anthropic, whole and as streams. The
// demo runs with it, and so do the tests with other people's clients (test/clients) and coding agents (test/agents).
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import * as zlib from 'node:zlib';
import { messagesAnswer } from './anthropic-answers.mjs';
import { chatAnswer, embeddingsAnswer, responsesAnswer } from './openai-answers.mjs';

const ANSWERS = new Map([
  ['POST /v1/chat/completions', chatAnswer],
  ['POST /v1/responses', responsesAnswer],
  ['POST /v1/embeddings', embeddingsAnswer],
  ['POST /v1/messages', messagesAnswer],
  ['GET /v1/models', () => ({ status: 200, json: { object: 'list', data: [] } })],
]);
/** By the names of `Content-Encoding`. Node 20 has none for zstd. */
const DECODERS = new Map([
  ['gzip', zlib.gunzipSync],
  ['deflate', zlib.inflateSync],
  ['br', zlib.brotliDecompressSync],
  ['zstd', zlib.zstdDecompressSync],
]);
/** The most that a gateway takes, unless it is set otherwise. */
const MAX_DECODED_BYTES = 32 * 1024 * 1024;
/** Every other name of a model is fine. */
const UNKNOWN_MODEL = 'unknown';
/** Its streams break off in the middle. */
const BREAKING_MODEL = 'breaks-off';

/**
 * @param options.pauseMs between two events of a stream
 * @param options.otherwise answers at further addresses: `(method, url, body) => ({status, json})`, or `{status, bytes, type}`, or `{events}`
 * @returns its address, and what it has received, newest last
 */
export async function startScriptedProvider({ pauseMs = 0, otherwise = nothingHere } = {}) {
  const calls = [];
  const server = createServer((request, response) => {
    reply(request, response).catch(() => {
      if (response.headersSent) return response.destroy();
      const { status, json } = refusal(400, { message: 'The request is not one of this API.' });
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${server.address().port}`, calls, close };

  async function reply(request, response) {
    const url = new URL(request.url, 'http://provider');
    const body = await readBody(request);
    calls.push({ method: request.method, path: url.pathname, headers: request.headers, body });
    const { status, json, events, bytes, type } = answerTo(request.method, url, body, otherwise);
    if (bytes !== undefined) {
      response.writeHead(status, { 'content-type': type }).end(bytes);
      return;
    }
    if (events === undefined) {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const last = body.model === BREAKING_MODEL ? Math.ceil(events.length / 2) : events.length;
    for (const event of events.slice(0, last)) {
      if (response.destroyed) return;
      response.write(event);
      if (pauseMs > 0) await sleep(pauseMs);
    }
    if (last === events.length) response.end();
    // What was written goes out first.
    else setTimeout(() => response.destroy(), 50);
  }
}

async function readBody(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const text = decoded(Buffer.concat(chunks), request.headers['content-encoding']).toString();
  return request.headers['content-type']?.startsWith('application/json') ? JSON.parse(text) : text;
}

/** Throws for codings that are not known, and for more than the most. The last coding is the outermost. */
function decoded(bytes, codings = 'identity') {
  const names = codings.split(',').map((name) => name.trim().toLowerCase());
  return names
    .filter((name) => name !== 'identity')
    .reduceRight((inner, name) => DECODERS.get(name)(inner, { maxOutputLength: MAX_DECODED_BYTES }), bytes);
}

function answerTo(method, url, body, otherwise) {
  const answer = ANSWERS.get(`${method} ${url.pathname}`);
  if (answer === undefined) return otherwise(method, url, body);
  if (body.model !== UNKNOWN_MODEL) return answer(body);
  return refusal(404, { message: 'No such model.', param: 'model', code: 'model_not_found' });
}

function nothingHere(_method, url) {
  return refusal(404, { message: `nothing at ${url.pathname}` });
}

function refusal(status, error) {
  return { status, json: { error: { type: 'invalid_request_error', ...error } } };
}
