import type { Reply } from './fake-provider.js';

interface Item {
  readonly id: string;
}

/** Batches as OpenAI shows them, newest first. */
export function batches(count: number): readonly Item[] {
  return newestFirst(count, (id, created_at) => ({
    id: `batch_${id}`,
    object: 'batch',
    endpoint: '/v1/chat/completions',
    errors: null,
    input_file_id: 'file-abc123',
    completion_window: '24h',
    status: 'in_progress',
    created_at,
    request_counts: { total: 100, completed: 95, failed: 5 },
    // A field that no document describes yet: the gateway must forward it.
    brand_new_field: { kept: true },
  }));
}

/** Runs of a thread, newest first. */
export function runs(count: number): readonly Item[] {
  return newestFirst(count, (id, created_at) => ({
    id: `run_${id}`,
    object: 'thread.run',
    created_at,
    thread_id: 'thread_abc123',
    assistant_id: 'asst_abc123',
    status: 'completed',
    model: 'gpt-4o',
    tools: [],
    brand_new_field: { kept: true },
  }));
}

/** Fine-tuning jobs, newest first. */
export function fineTuningJobs(count: number): readonly Item[] {
  return newestFirst(count, (id, created_at) => ({
    id: `ftjob-${id}`,
    object: 'fine_tuning.job',
    created_at,
    model: 'gpt-4o-mini',
    status: 'running',
    training_file: 'file-abc123',
  }));
}

/** Answers a list request as OpenAI does: newest first or by `order`; `after` is the last id of the previous page. */
export function cursorPages(items: readonly Item[]): Reply {
  return (response, call) => {
    const query = new URL(call.path, 'http://provider').searchParams;
    const ordered = query.get('order') === 'asc' ? items.toReversed() : items;
    const after = query.get('after');
    const start = after === null ? 0 : ordered.findIndex((item) => item.id === after) + 1;
    const data = ordered.slice(start, start + Number(query.get('limit') ?? 20));
    const body = {
      object: 'list',
      data,
      first_id: data[0]?.id ?? null,
      last_id: data.at(-1)?.id ?? null,
      has_more: start + data.length < items.length,
    };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
}

function newestFirst<Made extends Item>(count: number, make: (id: string, createdAt: number) => Made): readonly Made[] {
  return Array.from({ length: count }, (_, index) =>
    make(String(count - index).padStart(4, '0'), 1_711_471_533 + count - index),
  );
}
