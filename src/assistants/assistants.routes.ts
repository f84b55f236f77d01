// Threads, messages and runs of the Assistants protocol, version 2.
// Source: https://platform.openai.com/docs/api-reference/runs, read 2026-11-21.
import { OrderedCursorQuery } from '../common/pagination/cursor.query.js';
import type { RelayRoute } from '../gateway/relay/relay-route.js';
import { MessagesQuery, RunIncludeQuery, RunStepsQuery } from './dto/assistants.query.js';
import { ThreadRunListResponse, ThreadRunResponse } from './thread-run.response.js';

const THREAD = { kind: 'thread', name: 'thread_id' } as const;
/** Fields with file ids: attachments, pictures, and files for the code interpreter. */
const FILES = [
  { kind: 'file', name: 'file_id' },
  { kind: 'file', name: 'file_ids' },
] as const;
const ONE_THREAD = '/threads/{thread_id}';
const MESSAGES = `${ONE_THREAD}/messages`;
const RUNS = `${ONE_THREAD}/runs`;
const ONE_RUN = `${RUNS}/{run_id}`;

export const ASSISTANTS_ROUTES: readonly RelayRoute[] = [
  read('retrieveThread', 'threads.retrieve', 'Retrieves a thread.', ONE_THREAD),
  {
    ...write('createThread', 'threads.create', 'Creates a thread.', '/threads'),
    scope: 'threads.create',
    creates: { kind: 'thread', idField: 'id' },
    about: undefined,
  },
  // Must come before the next route, whose pattern also matches this path.
  {
    ...write('createThreadAndRun', 'threads.create_and_run', 'Creates a thread and runs it.', '/threads/runs'),
    scope: 'threads.create',
    answer: 'events',
    response: ThreadRunResponse,
    creates: { kind: 'thread', idField: 'thread_id' },
    about: undefined,
  },
  write('updateThread', 'threads.update', 'Updates a thread.', ONE_THREAD),
  {
    ...read('deleteThread', 'threads.delete', 'Deletes a thread.', ONE_THREAD),
    method: 'DELETE',
    reads: undefined,
    scope: 'threads.delete',
    deletes: { idParam: 'thread_id', object: 'thread.deleted' },
  },

  {
    ...read('listMessages', 'threads.messages.list', 'Lists the messages of a thread.', MESSAGES),
    scope: 'threads.list',
    reads: 'list',
    query: MessagesQuery,
  },
  write('createMessage', 'threads.messages.create', 'Adds a message to a thread.', MESSAGES),
  read('retrieveMessage', 'threads.messages.retrieve', 'Retrieves a message.', `${MESSAGES}/{message_id}`),
  write('updateMessage', 'threads.messages.update', 'Updates a message.', `${MESSAGES}/{message_id}`),
  {
    ...read('deleteMessage', 'threads.messages.delete', 'Deletes a message.', `${MESSAGES}/{message_id}`),
    method: 'DELETE',
    reads: undefined,
    scope: 'threads.delete',
    deletes: { idParam: 'message_id', object: 'thread.message.deleted' },
  },

  {
    ...read('listRuns', 'threads.runs.list', 'Lists the runs of a thread.', RUNS),
    scope: 'threads.list',
    reads: 'list',
    query: OrderedCursorQuery,
    response: ThreadRunListResponse,
  },
  {
    ...write('createRun', 'threads.runs.create', 'Runs a thread.', RUNS),
    query: RunIncludeQuery,
    answer: 'events',
    response: ThreadRunResponse,
  },
  { ...read('retrieveRun', 'threads.runs.retrieve', 'Retrieves a run.', ONE_RUN), response: ThreadRunResponse },
  { ...write('updateRun', 'threads.runs.update', 'Updates a run.', ONE_RUN), response: ThreadRunResponse },
  { ...write('cancelRun', 'threads.runs.cancel', 'Cancels a run.', `${ONE_RUN}/cancel`), response: ThreadRunResponse },
  {
    ...write(
      'submitToolOutputs',
      'threads.runs.submit_tool_outputs',
      'Submits the outputs of tool calls to a run.',
      `${ONE_RUN}/submit_tool_outputs`,
    ),
    answer: 'events',
    response: ThreadRunResponse,
  },
  {
    ...read('listRunSteps', 'threads.runs.steps.list', 'Lists the steps of a run.', `${ONE_RUN}/steps`),
    scope: 'threads.list',
    reads: 'list',
    query: RunStepsQuery,
  },
  {
    ...read(
      'retrieveRunStep',
      'threads.runs.steps.retrieve',
      'Retrieves a step of a run.',
      `${ONE_RUN}/steps/{step_id}`,
    ),
    query: RunIncludeQuery,
  },
];

/** Common fields of the reads within a thread. */
function read(operationId: string, operation: string, summary: string, path: string): RelayRoute {
  return {
    operationId,
    operation,
    summary,
    method: 'GET',
    path,
    scope: 'threads.read',
    reads: 'object',
    about: THREAD,
  };
}

/** Common fields of the changes within a thread. */
function write(operationId: string, operation: string, summary: string, path: string): RelayRoute {
  return {
    operationId,
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
