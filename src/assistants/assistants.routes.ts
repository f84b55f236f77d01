// Threads, messages and runs of the Assistants protocol, version 2.
// Source: https://platform.openai.com/docs/api-reference/runs, read 2026-11-21.
import { OrderedCursorQuery } from '../common/pagination/cursor.query.js';
import type { RelayRoute } from '../gateway/relay/relay-route.js';
import { MessagesQuery } from './dto/messages.query.js';
import { RunIncludeQuery } from './dto/run-include.query.js';
import { RunStepsQuery } from './dto/run-steps.query.js';
import { ThreadRunListResponse, ThreadRunResponse } from './thread-run.response.js';

const THREAD = { kind: 'thread', name: 'thread_id' } as const;
/** Attachments, pictures, and what the code interpreter may read. */
const FILES = [
  { kind: 'file', name: 'file_id' },
  { kind: 'file', name: 'file_ids' },
] as const;
const ONE_THREAD = '/threads/{thread_id}';
const MESSAGES = `${ONE_THREAD}/messages`;
const RUNS = `${ONE_THREAD}/runs`;
const ONE_RUN = `${RUNS}/{run_id}`;

export const ASSISTANTS_ROUTES: readonly RelayRoute[] = [
  read('threads.retrieve', 'Retrieves a thread.', ONE_THREAD),
  {
    ...write('threads.create', 'Creates a thread.', '/threads'),
    scope: 'threads.create',
    creates: { kind: 'thread', idField: 'id' },
    about: undefined,
  },
  // Before the next: its path could be that of a thread.
  {
    ...write('threads.create_and_run', 'Creates a thread and starts a run of it.', '/threads/runs'),
    scope: 'threads.create',
    answer: 'events',
    response: ThreadRunResponse,
    creates: { kind: 'thread', idField: 'thread_id' },
    about: undefined,
  },
  write('threads.update', 'Changes a thread.', ONE_THREAD),
  {
    ...read('threads.delete', 'Deletes a thread.', ONE_THREAD),
    method: 'DELETE',
    reads: undefined,
    scope: 'threads.delete',
    deletes: { idParam: 'thread_id', object: 'thread.deleted' },
  },

  {
    ...read('threads.messages.list', 'Lists the messages of a thread.', MESSAGES),
    scope: 'threads.list',
    reads: 'list',
    query: MessagesQuery,
  },
  write('threads.messages.create', 'Adds a message to a thread.', MESSAGES),
  read('threads.messages.retrieve', 'Retrieves a message.', `${MESSAGES}/{message_id}`),
  write('threads.messages.update', 'Changes a message.', `${MESSAGES}/{message_id}`),
  {
    ...read('threads.messages.delete', 'Deletes a message.', `${MESSAGES}/{message_id}`),
    method: 'DELETE',
    reads: undefined,
    scope: 'threads.delete',
    deletes: { idParam: 'message_id', object: 'thread.message.deleted' },
  },

  {
    ...read('threads.runs.list', 'Lists the runs of a thread.', RUNS),
    scope: 'threads.list',
    reads: 'list',
    query: OrderedCursorQuery,
    response: ThreadRunListResponse,
  },
  {
    ...write('threads.runs.create', 'Starts a run of a thread.', RUNS),
    query: RunIncludeQuery,
    answer: 'events',
    response: ThreadRunResponse,
  },
  { ...read('threads.runs.retrieve', 'Retrieves a run.', ONE_RUN), response: ThreadRunResponse },
  { ...write('threads.runs.update', 'Changes a run.', ONE_RUN), response: ThreadRunResponse },
  { ...write('threads.runs.cancel', 'Cancels a run.', `${ONE_RUN}/cancel`), response: ThreadRunResponse },
  {
    ...write(
      'threads.runs.submit_tool_outputs',
      'Gives a run the outputs of its tool calls.',
      `${ONE_RUN}/submit_tool_outputs`,
    ),
    answer: 'events',
    response: ThreadRunResponse,
  },
  {
    ...read('threads.runs.steps.list', 'Lists the steps of a run.', `${ONE_RUN}/steps`),
    scope: 'threads.list',
    reads: 'list',
    query: RunStepsQuery,
  },
  {
    ...read('threads.runs.steps.retrieve', 'Retrieves a step of a run.', `${ONE_RUN}/steps/{step_id}`),
    query: RunIncludeQuery,
  },
];

/** What reads within a thread have in common. */
function read(operation: string, summary: string, path: string): RelayRoute {
  return { operation, summary, method: 'GET', path, scope: 'threads.read', reads: 'object', about: THREAD };
}

/** What changes within a thread have in common. */
function write(operation: string, summary: string, path: string): RelayRoute {
  return {
    operation,
    summary,
    method: 'POST',
    path,
    scope: 'threads.update',
    body: 'json',
    about: THREAD,
    uses: FILES,
  };
}
