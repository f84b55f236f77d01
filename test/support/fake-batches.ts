import { readObject } from '../../src/common/json/read.js';
import { json, type ProviderCall, type Reply, text } from './fake-provider.js';

type Batch = Readonly<Record<string, unknown>> & { readonly id: string };

const FILE = /^\/v1\/files\/([^/]+)\/content$/;
const BATCH = /^\/v1\/batches\/([^/?]+)$/;

/** The batches and files of an account at OpenAI. */
export class FakeBatches {
  readonly files = new Map<string, string>();
  readonly batches = new Map<string, Batch>();
  #made = 0;
  /** Answers a create, once the batch is made. */
  replyToCreate: (batch: Batch) => Reply = (batch) => json(batch);

  readonly reply: Reply = (response, call) => this.#replyTo(call)(response, call);

  /** Writes a file with one call in each line, as OpenAI takes it. */
  upload(id: string, bodies: readonly unknown[], url = '/v1/chat/completions'): void {
    const lines = bodies.map((body, index) => ({ custom_id: `call-${index}`, method: 'POST', url, body }));
    this.files.set(id, jsonLines(lines));
  }

  /** Writes the results of a batch: one body of an answer in each line. */
  answer(id: string, bodies: readonly unknown[]): void {
    this.files.set(id, jsonLines(bodies.map((body) => ({ response: { status_code: 200, body }, error: null }))));
  }

  finish(id: string, fields: Readonly<Record<string, unknown>>): void {
    this.batches.set(id, { status: 'completed', ...this.batches.get(id), ...fields, id });
  }

  #replyTo({ method, path, body }: ProviderCall): Reply {
    const [, fileId] = FILE.exec(path) ?? [];
    const [, batchId] = BATCH.exec(path) ?? [];
    if (fileId !== undefined) return found(this.files.get(fileId), (content) => text(content, 'application/jsonl'));
    if (batchId !== undefined) return found(this.batches.get(batchId), json);
    if (!path.startsWith('/v1/batches')) return json({ error: { message: 'no such address' } }, 404);
    if (method === 'GET')
      return json({ object: 'list', data: [...this.batches.values()].toReversed(), has_more: false });
    return this.replyToCreate(this.#make(body));
  }

  #make(body: string): Batch {
    this.#made += 1;
    const batch = {
      ...readObject(JSON.parse(body), 'body'),
      id: `batch_${this.#made}`,
      object: 'batch',
      status: 'validating',
      created_at: Math.floor(Date.now() / 1_000),
    };
    this.batches.set(batch.id, batch);
    return batch;
  }
}

function jsonLines(values: readonly unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('');
}

function found<Value>(value: Value | undefined, reply: (value: Value) => Reply): Reply {
  return value === undefined
    ? json({ error: { message: 'not found', type: 'invalid_request_error' } }, 404)
    : reply(value);
}
