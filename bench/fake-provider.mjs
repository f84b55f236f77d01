// A rerank provider for benchmarks, as a process of its own: reads the whole body, then answers in the form of Cohere's
// version 2. It must be cheap, since it shares the machine with what is measured: both answers are made once, at start.
import { createServer } from 'node:http';
import { announce } from './child.mjs';
import { LARGE, SMALL } from './rerank-bodies.mjs';

const answers = new Map(
  [SMALL, LARGE].map(({ documents, answerBytes }) => [documents, answer(documents, answerBytes)]),
);
const small = answers.get(SMALL.documents);
const large = answers.get(LARGE.documents);

const server = createServer((request, response) => {
  let received = 0;
  request.on('data', (chunk) => (received += chunk.length));
  request.on('end', () => {
    const body = received > LARGE.bytes / 2 ? large : small;
    response.writeHead(200, ['content-type', 'application/json', 'content-length', String(body.length)]);
    response.end(body);
  });
});
server.keepAliveTimeout = 120_000;
server.listen(0, '127.0.0.1', () => announce(server.address().port));

/** Best first, as Cohere answers. Warnings fill a short answer up to the wanted size. */
function answer(documents, bytes) {
  const results = Array.from({ length: documents }, (_, rank) => ({
    index: (rank * 7 + 3) % documents,
    relevance_score: Number((0.98 - (rank / documents) * 0.9).toFixed(7)),
  }));
  const meta = {
    api_version: { version: '2', is_experimental: false },
    billed_units: { search_units: 1 },
    warnings: [''],
  };
  const body = { id: '07734bd2-2473-4f07-94e1-0d9f0e6843cf', results, meta };
  meta.warnings[0] = 'x'.repeat(Math.max(0, bytes - JSON.stringify(body).length));
  return Buffer.from(JSON.stringify(body));
}
