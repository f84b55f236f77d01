// Cohere's own SDK against the gateway: only address, key and one header differ.
//   TOLLGATE_KEY=tg_… node examples/cohere-sdk.mjs
import { CohereClient } from 'cohere-ai';

const cohere = new CohereClient({
  environment: process.env.TOLLGATE_URL ?? 'http://127.0.0.1:8787',
  token: process.env.TOLLGATE_KEY,
  headers: { 'x-gateway-virtual-key': process.env.TOLLGATE_VIRTUAL_KEY ?? 'local' },
});

const documents = ['Bananas are a yellow fruit.', 'The sea is blue today.', 'Lemons are yellow too.'];
const { results } = await cohere.rerank({
  model: 'bm25',
  query: 'yellow fruit',
  documents,
  returnDocuments: true,
});

for (const { index, relevanceScore, document } of results) {
  console.log(`${relevanceScore.toFixed(3)}  #${index}  ${document?.text}`);
}
