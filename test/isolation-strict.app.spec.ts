import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { SCOPES } from '../src/access/scopes.js';
import { readArray, readObject, readString } from '../src/common/json/read.js';
import { batches, cursorPages } from './support/fake-openai.js';
import { json, onlyCall, type Reply, text } from './support/fake-provider.js';
import { type Ask, plainly } from './support/openai-client.js';
import { type RerankGateway, startRerankGateway } from './support/rerank-gateway.js';
import { type Answer, jsonOf, refusalOf } from './support/send.js';

const AREAS = SCOPES.filter((scope) => /^(?:batches|fine_tuning|threads)\./.test(scope));
const NOT_FOUND = { status: 404, code: 'not_found', source: 'gateway' };

let gateway: RerankGateway;
/** A workspace that uses a virtual key with strict isolation. */
let ours: Ask;
/** Another workspace with strict isolation. */
let theirs: Ask;
/** The first workspace with a virtual key of the same account that does not isolate. */
let openly: Ask;

beforeAll(async () => {
  gateway = await startRerankGateway();
  const strict = await gateway.virtualKey('openai-compatible', { config: { isolation: 'strict' } });
  const open = await gateway.virtualKey('openai-compatible');
  const ourKey = await keyOf('ours');
  ours = as(ourKey, strict);
  theirs = as(await keyOf('theirs'), strict);
  openly = as(ourKey, open);
});
afterAll(() => gateway.close());
beforeEach(() => gateway.provider.forget());

function as(key: string, virtualKey: string): Ask {
  const ask = plainly(gateway, virtualKey);
  return (method, path, { headers, ...more } = {}) =>
    ask(method, path, { ...more, headers: { 'x-gateway-api-key': key, ...headers } });
}

async function keyOf(workspace: string): Promise<string> {
  const admin = plainly(gateway, 'local');
  await admin('POST', '/workspaces', { body: { name: workspace, slug: workspace } });
  const key = { name: workspace, workspace_id: workspace, scopes: AREAS };
  return readString(jsonOf(await admin('POST', '/api-keys', { body: key }))['key'], 'key');
}

/** Makes the provider create an object with this id for a workspace, then forgets the calls. */
async function made(by: Ask, path: string, id: string, more: object = {}): Promise<void> {
  gateway.provider.replyWith(json({ id, ...more }));
  const answer = await by('POST', path, { body: path === '/files' ? Buffer.from('--x') : {} });
  expect(answer.status).toBe(200);
  gateway.provider.forget();
}

const idsIn = (answer: Answer) =>
  readArray(jsonOf(answer)['data'], 'data').map((item) => readObject(item, 'item')['id']);

describe('isolated files', () => {
  it('lists, reads and deletes files only for the workspace that uploaded them', async () => {
    await made(ours, '/files', 'file-ours');
    await made(theirs, '/files', 'file-theirs');
    const account = cursorPages([{ id: 'file-theirs' }, { id: 'file-ours' }, { id: 'file-of-nobody' }]);
    gateway.provider.replyWith(account);
    expect(idsIn(await ours('GET', '/files?purpose=batch'))).toEqual(['file-ours']);
    expect(idsIn(await theirs('GET', '/files'))).toEqual(['file-theirs']);
    expect(gateway.provider.calls[0]?.path).toContain('purpose=batch');
    gateway.provider.forget();
    for (const [method, path] of [
      ['GET', '/files/file-theirs'],
      ['GET', '/files/file-theirs/content'],
      ['DELETE', '/files/file-theirs'],
      ['GET', '/files/file-of-nobody/content'],
    ] as const) {
      expect(refusalOf(await ours(method, path))).toEqual({ ...NOT_FOUND, param: 'file_id' });
    }
    expect(gateway.provider.calls).toHaveLength(0);
    gateway.provider.replyWith(text('{"a":1}\n', 'application/jsonl'));
    expect((await ours('GET', '/files/file-ours/content')).text).toBe('{"a":1}\n');
  });

  it.each([
    ['/batches', { input_file_id: 'file-b' }, 'input_file_id'],
    ['/batches', { input_file_id: ['file-a', 'file-b'] }, 'input_file_id'],
    ['/batches', { input_file_id: 'file-\u0000' }, 'input_file_id'],
    ['/batches', { Input_File_Id: 'file-b' }, 'input_file_id'],
    ['/batches', { input_file_id: 'file-a', INPUT_FILE_ID: 'file-b' }, 'input_file_id'],
    ['/threads', { Tool_Resources: { code_interpreter: { 'file_id\u017F': ['file-b'] } } }, 'file_ids'],
    ['/fine_tuning/jobs', { training_file: 'file-b' }, 'training_file'],
    ['/fine_tuning/jobs', { training_file: 'file-a', validation_file: 'file-b' }, 'validation_file'],
    ['/threads', { messages: [{ attachments: [{ file_id: 'file-b', tools: [] }] }] }, 'file_id'],
    ['/threads', { tool_resources: { code_interpreter: { file_ids: ['file-a', 'file-b'] } } }, 'file_ids'],
    ['/threads/runs', { thread: { messages: [{ content: [{ image_file: { file_id: 'file-b' } }] }] } }, 'file_id'],
  ])('refuses files of other workspaces: POST %s %j', async (path, body, param) => {
    await made(ours, '/files', 'file-a');
    await made(theirs, '/files', 'file-b');
    expect(refusalOf(await ours('POST', path, { body }))).toEqual({ ...NOT_FOUND, param });
    expect(gateway.provider.calls).toHaveLength(0);
  });

  it("accepts the workspace's own files and does not read metadata as file ids", async () => {
    await made(ours, '/files', 'file-a');
    gateway.provider.replyWith(json({ id: 'ftjob-1' }));
    const body = { training_file: 'file-a', validation_file: null, metadata: { file_id: 'file-b' } };
    expect((await ours('POST', '/fine_tuning/jobs', { body })).status).toBe(200);
    expect(onlyCall(gateway.provider).body).toBe(JSON.stringify(body));
  });

  it('forwards the checked value when a field occurs twice', async () => {
    await made(ours, '/files', 'file-a');
    gateway.provider.replyWith(json({ id: 'ftjob-2' }));
    const body = '{"training_file":"file-b","training_file":"file-a"}';
    expect((await ours('POST', '/fine_tuning/jobs', { body })).status).toBe(200);
    expect(onlyCall(gateway.provider).body).toBe('{"training_file":"file-a"}');
  });
});

describe("the results of a workspace's own batches and jobs", () => {
  it.each([
    ['/batches', 'batch_out', '', { output_file_id: 'file-out-1', error_file_id: 'file-err-1' }],
    ['/batches', 'batch_out2', '/cancel', { output_file_id: 'file-out-2' }],
    ['/fine_tuning/jobs', 'ftjob-out', '', { result_files: ['file-out-3', 'file-out-4'] }],
  ])('grants access to result files after a read has shown their ids: %s/%s%s', async (path, id, action, results) => {
    await made(ours, path, id);
    const files = Object.values(results).flat();
    const [first = ''] = files;
    expect(refusalOf(await ours('GET', `/files/${first}`))).toMatchObject(NOT_FOUND);
    gateway.provider.replyWith(json({ id, ...results }));
    expect((await ours(action === '' ? 'GET' : 'POST', `${path}/${id}${action}`)).status).toBe(200);
    for (const file of files) {
      expect((await ours('GET', `/files/${file}`)).status).toBe(200);
      expect(refusalOf(await theirs('GET', `/files/${file}`))).toMatchObject(NOT_FOUND);
    }
  });

  it('grants access to result files after a list has shown their ids', async () => {
    await made(ours, '/batches', 'batch_listed');
    const listed = [{ id: 'batch_listed', output_file_id: 'file-listed' }];
    gateway.provider.replyWith(cursorPages(listed));
    expect(idsIn(await ours('GET', '/batches'))).toEqual(['batch_listed']);
    gateway.provider.replyWith(json({ id: 'file-listed' }));
    expect((await ours('GET', '/files/file-listed')).status).toBe(200);
    expect((await theirs('GET', '/files/file-listed')).status).toBe(404);
  });

  it('never grants access to files of other workspaces that an answer names', async () => {
    await made(theirs, '/files', 'file-secret');
    await made(ours, '/batches', 'batch_claim');
    const claims = { metadata: { output_file_id: 'file-x' }, nested: { output_file_id: 'file-y' } };
    gateway.provider.replyWith(json({ id: 'batch_claim', ...claims, output_file_id: 'file-secret' }));
    await ours('GET', '/batches/batch_claim');
    for (const file of ['file-x', 'file-y', 'file-secret']) {
      expect(refusalOf(await ours('GET', `/files/${file}`))).toMatchObject(NOT_FOUND);
    }
  });
});

describe('a cursor of an isolated list', () => {
  it.each(['/batches', '/files', '/fine_tuning/jobs'])(
    'refuses a cursor of another workspace like an unknown one: %s',
    async (path) => {
      const suffix = path.replaceAll(/\W/g, '');
      await made(ours, path, `mine-${suffix}`);
      await made(theirs, path, `foreign-${suffix}`);
      gateway.provider.replyWith(cursorPages(batches(3)));
      for (const after of [`foreign-${suffix}`, 'nothing']) {
        const refusal = refusalOf(await ours('GET', `${path}?after=${after}`));
        expect(refusal).toEqual({ status: 400, code: 'validation_failed', param: 'after', source: 'gateway' });
      }
      expect(gateway.provider.calls).toHaveLength(0);
      expect((await ours('GET', `${path}?after=mine-${suffix}`)).status).toBe(200);
    },
  );
});

describe('an object that was deleted', () => {
  it('accepts the id of a deleted object as a cursor, so that deleting a list can continue', async () => {
    await made(ours, '/files', 'file-deleted');
    gateway.provider.replyWith(json({ id: 'file-deleted', object: 'file', deleted: true }));
    expect((await ours('DELETE', '/files/file-deleted')).status).toBe(200);
    gateway.provider.replyWith(json({ object: 'list', data: [], has_more: false }));
    expect((await ours('GET', '/files?after=file-deleted')).status).toBe(200);
    expect((await theirs('GET', '/files?after=file-deleted')).status).toBe(400);
  });
});

describe('a thread that is created together with its run', () => {
  const thread = json({ id: 'run_1', object: 'thread.run', thread_id: 'thread_ours' });
  beforeAll(() => made(ours, '/assistants', 'asst_1'));

  it.each([
    [{ assistant_id: 'asst_theirs' }, 'assistant_id'],
    [
      { assistant_id: 'asst_1', tool_resources: { file_search: { vector_store_ids: ['vs_theirs'] } } },
      'vector_store_ids',
    ],
  ])('refuses assistants and vector stores of other workspaces: %j', async (body, param) => {
    await made(theirs, '/assistants', 'asst_theirs');
    await made(theirs, '/vector_stores', 'vs_theirs');
    expect(refusalOf(await ours('POST', '/threads/runs', { body }))).toEqual({ ...NOT_FOUND, param });
    expect(gateway.provider.calls).toHaveLength(0);
  });

  it('assigns the file of a completed upload to the workspace that uploaded its parts', async () => {
    await made(ours, '/uploads', 'upload_1');
    gateway.provider.replyWith(json({ id: 'part_1' }));
    await ours('POST', '/uploads/upload_1/parts', { body: Buffer.from('--x') });
    gateway.provider.replyWith(json({ id: 'upload_1', file: { id: 'file-of-parts' } }));
    const complete = { body: { part_ids: ['part_1'] } };
    expect(refusalOf(await theirs('POST', '/uploads/upload_1/complete', complete))).toMatchObject(NOT_FOUND);
    expect((await ours('POST', '/uploads/upload_1/complete', complete)).status).toBe(200);
    gateway.provider.replyWith(json({ id: 'file-of-parts' }));
    expect((await ours('GET', '/files/file-of-parts')).status).toBe(200);
    expect(refusalOf(await theirs('GET', '/files/file-of-parts'))).toMatchObject(NOT_FOUND);
  });

  it('assigns a thread that is created with its run to the creating workspace', async () => {
    gateway.provider.replyWith(thread);
    expect((await ours('POST', '/threads/runs', { body: { assistant_id: 'asst_1' } })).status).toBe(200);
    gateway.provider.replyWith(json({ object: 'list', data: [], has_more: false }));
    expect((await ours('GET', '/threads/thread_ours/runs')).status).toBe(200);
    expect(refusalOf(await theirs('GET', '/threads/thread_ours/runs'))).toEqual({ ...NOT_FOUND, param: 'thread_id' });
  });

  it.each([true, 'true', 1, {}])(
    'refuses a thread with stream: %j, since the gateway does not read streams here',
    async (stream) => {
      gateway.provider.replyWith(thread);
      const refusal = refusalOf(await ours('POST', '/threads/runs', { body: { assistant_id: 'asst_1', stream } }));
      expect(refusal).toEqual({ status: 400, code: 'unsupported_parameter', param: 'stream', source: 'gateway' });
      expect(gateway.provider.calls).toHaveLength(0);
    },
  );

  it.each(['Stream', 'STREAM', '\u017Ftream'])('refuses stream in the spelling %s too', async (name) => {
    const body = { assistant_id: 'asst_1', stream: false, [name]: true };
    expect(refusalOf(await ours('POST', '/threads/runs', { body }))).toMatchObject({ status: 400, param: 'stream' });
    expect(gateway.provider.calls).toHaveLength(0);
  });

  it.each([false, null])('creates a thread with stream: %j', async (stream) => {
    gateway.provider.replyWith(thread);
    expect((await ours('POST', '/threads/runs', { body: { stream } })).status).toBe(200);
  });

  it('returns 502 when the provider answers with a stream that was not requested', async () => {
    gateway.provider.replyWith(text('event: thread.created\ndata: {"id":"thread_x"}\n\n', 'text/event-stream'));
    const answer = await ours('POST', '/threads/runs', { body: {} });
    expect(refusalOf(answer)).toMatchObject({ status: 502, code: 'provider_invalid_response' });
  });

  it('streams later runs of a workspace, and threads of a key that does not isolate', async () => {
    await made(ours, '/threads', 'thread_streamed');
    gateway.provider.replyWith(text('data: [DONE]\n\n', 'text/event-stream'));
    const body = { stream: true };
    expect((await ours('POST', '/threads/thread_streamed/runs', { body })).text).toBe('data: [DONE]\n\n');
    expect((await openly('POST', '/threads/runs', { body })).text).toBe('data: [DONE]\n\n');
  });

  it('streams for any spelling of the media type', async () => {
    gateway.provider.replyWith(text('data: [DONE]\n\n', 'Text/Event-Stream; charset=UTF-8'));
    const answer = await openly('POST', '/threads/runs', { body: { stream: true } });
    expect([answer.status, answer.text]).toEqual([200, 'data: [DONE]\n\n']);
  });
});

describe('an answer to a create without an id', () => {
  const nameless: Reply = json({ object: 'batch' });

  it('returns 502 for an answer without an id when workspaces are isolated', async () => {
    gateway.provider.replyWith(nameless);
    const answer = await ours('POST', '/batches', { body: {} });
    expect(refusalOf(answer)).toMatchObject({ status: 502, code: 'provider_invalid_response', source: 'provider' });
    // Otherwise SDKs create another object, and pay for it.
    expect(answer.headers['x-should-retry']).toBe('false');
  });

  it('passes an answer without an id through when nothing is isolated', async () => {
    gateway.provider.replyWith(nameless);
    expect((await openly('POST', '/batches', { body: {} })).text).toBe('{"object":"batch"}');
  });
});

describe('an id that cannot be recorded', () => {
  const LONGEST = 'x'.repeat(1_024);
  const UNFIT = [['is too long', `${LONGEST}x`] as const, ['has a NUL', 'batch_\u0000'] as const];

  it.each([...UNFIT, ['takes too many bytes', '\u4E00'.repeat(1_000)] as const])(
    'returns 502 for an isolated create whose id %s',
    async (_what, id) => {
      gateway.provider.replyWith(json({ id }));
      const answer = await ours('POST', '/batches', { body: {} });
      expect(refusalOf(answer)).toMatchObject({ status: 502, code: 'provider_invalid_response', source: 'provider' });
    },
  );

  it.each(UNFIT)('passes an id that %s through when nothing is isolated', async (_what, id) => {
    gateway.provider.replyWith(json({ id }));
    const answer = await openly('POST', '/batches', { body: {} });
    expect([answer.status, jsonOf(answer)['id']]).toEqual([200, id]);
  });

  it.each(UNFIT)('assigns a result file whose id %s to no workspace', async (_what, output_file_id) => {
    await made(ours, '/batches', 'batch_unfit');
    gateway.provider.replyWith(json({ id: 'batch_unfit', output_file_id }));
    expect((await ours('GET', '/batches/batch_unfit')).status).toBe(200);
  });

  it('accepts the longest id that can be recorded', async () => {
    await made(ours, '/batches', LONGEST);
  });
});
