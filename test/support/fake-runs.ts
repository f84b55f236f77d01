import { readObject } from '../../src/common/json/read.js';
import { json, type ProviderCall, type Reply } from './fake-provider.js';

type Run = Readonly<Record<string, unknown>> & { readonly id: string; readonly thread_id: string };

const RUN = /^\/v1\/threads\/([^/?]+)\/runs\/([^/?]+)/;
const RUNS = /^\/v1\/threads(?:\/([^/?]+))?\/runs(?:\?|$)/;
const ASSISTANT = /^\/v1\/assistants\/([^/?]+)$/;

/** The assistants, threads and runs of an account. Each create makes a run that waits. */
export class FakeRuns {
  readonly assistants = new Map<string, object>();
  readonly runs = new Map<string, Run>();
  /** States that a stream goes through after `created`. */
  streams: readonly Readonly<Record<string, unknown>>[] = [];
  /** Answers a POST, once the run is made or changed. */
  replyToPost: (run: Run) => Reply = (run) => json(run);
  #made = 0;

  readonly reply: Reply = (response, call) => this.#replyTo(call)(response, call);

  change(id: string, fields: Readonly<Record<string, unknown>>): Run {
    const run = { thread_id: 'thread_1', ...this.runs.get(id), ...fields, id };
    this.runs.set(id, run);
    return run;
  }

  #replyTo({ method, path, body }: ProviderCall): Reply {
    const [, assistant] = ASSISTANT.exec(path) ?? [];
    if (assistant !== undefined) return found(this.assistants.get(assistant));
    const [, , id] = RUN.exec(path) ?? [];
    if (id !== undefined && method === 'GET') return found(this.runs.get(id));
    if (method === 'GET') return json({ object: 'list', data: [...this.runs.values()].toReversed(), has_more: false });
    const given = readObject(JSON.parse(body), 'body');
    const thread = RUNS.exec(path)?.[1] ?? 'thread_new';
    const run = id === undefined ? this.#make(given, thread) : this.change(id, { status: 'in_progress' });
    return given['stream'] === true ? this.#streamOf(run) : this.replyToPost(run);
  }

  #make(body: Readonly<Record<string, unknown>>, thread: string): Run {
    this.#made += 1;
    const assistant = this.assistants.get(String(body['assistant_id']));
    const created = Math.floor(Date.now() / 1_000);
    const given = { ...assistant, ...body, object: 'thread.run', created_at: created, usage: null };
    return this.change(`run_${this.#made}`, { ...given, thread_id: thread, status: 'queued' });
  }

  #streamOf(run: Run): Reply {
    return (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`event: thread.run.created\ndata: ${JSON.stringify(run)}\n\n`);
      response.write('event: thread.message.delta\ndata: {"id":"msg_1","delta":{}}\n\n');
      for (const fields of this.streams) {
        const state = this.change(run.id, fields);
        response.write(`event: thread.run.${String(fields['status'])}\ndata: ${JSON.stringify(state)}\n\n`);
      }
      response.end('event: done\ndata: [DONE]\n\n');
    };
  }
}

function found(value: object | undefined): Reply {
  return value === undefined
    ? json({ error: { message: 'not found', type: 'invalid_request_error' } }, 404)
    : json(value);
}
