// OpenAI's own SDK against the gateway: only address, key and one header differ.
//   TOLLGATE_KEY=tg_… TOLLGATE_VIRTUAL_KEY=openai node examples/openai-sdk.mjs
import OpenAI from 'openai';

const client = new OpenAI({
  baseURL: `${process.env.TOLLGATE_URL ?? 'http://127.0.0.1:8787'}/v1`,
  apiKey: process.env.TOLLGATE_KEY,
  defaultHeaders: { 'x-gateway-virtual-key': process.env.TOLLGATE_VIRTUAL_KEY ?? 'openai' },
});

// Asks for page after page until the last batch.
for await (const batch of client.batches.list({ limit: 100 })) {
  const { completed = 0, total = 0 } = batch.request_counts ?? {};
  console.log(`${batch.id}  ${batch.status}  ${completed}/${total}`);
}
