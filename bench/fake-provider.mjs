// A rerank provider for benchmarks, as a process of its own: reads the whole body, then answers in the form of Cohere's
// version 2. It must be cheap, since it shares the machine with what is measured: the answer is made once, at start.
import { createServer } from 'node:http';
import { announce } from './child.mjs';
import { RESULTS } from './rerank-bodies.mjs';

const ANSWER_BYTES = 2_048;
const body = answer();

const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    response.writeHead(200, ['content-type', 'application/json', 'content-length', String(body.length)]);
    response.end(body);
  });
});
server.keepAliveTimeout = 120_000;
server.listen(0, '127.0.0.1', () => announce(server.address().port));

/** Best first, as Cohere answers. A warning fills it up to its size. */
function answer() {
  const results = Array.from({ length: RESULTS }, (_, rank) => ({
    index: (rank * 7 + 3) % RESULTS,
    relevance_score: Number((0.98 - rank * 0.0901234).toFixed(7)),
  }));
  const billed_units = { search_units: 1 };
  const meta = { api_version: { version: '2', is_experimental: false }, billed_units, warnings: [''] };
  const value = { id: '07734bd2-2473-4f07-94e1-0d9f0e6843cf', results, meta };
  meta.warnings[0] = 'x'.repeat(ANSWER_BYTES - JSON.stringify(value).length);
  return Buffer.from(JSON.stringify(value));
}
