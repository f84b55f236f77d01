// A rerank provider for the benchmark of shares: answers in the form of Cohere's version 2 after 15 ms of work, or, for the model
// `hangs`, after so many milliseconds as its first argument says.
import { createServer } from 'node:http';
import { announce } from './child.mjs';

const WORK_MS = 15;
const hangMs = Number(process.argv[2]);
const body = JSON.stringify({
  id: 'fixed',
  results: [{ index: 0, relevance_score: 0.9 }],
  meta: { api_version: { version: '2' }, billed_units: { search_units: 1 } },
});

const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const { model } = JSON.parse(Buffer.concat(chunks).toString());
    setTimeout(() => response.writeHead(200, { 'content-type': 'application/json' }).end(body), msOf(model));
  });
});
server.keepAliveTimeout = 120_000;
server.listen(0, '127.0.0.1', () => announce(server.address().port));

function msOf(model) {
  return model === 'hangs' ? hangMs : WORK_MS;
}
