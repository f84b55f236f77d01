import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { QueryFailedError } from 'typeorm';
import { GatheredLog } from '../../../test/support/gathered-log.js';
import { Clock } from '../../common/time/clock.js';
import { type McpCallRecord, McpCallRecorder } from './mcp-call.recorder.js';
import type { McpCallRow, McpCallStore } from './mcp-call.store.js';

const CALL: McpCallRecord = {
  organisationId: 'organisation',
  workspaceId: null,
  serverId: 'server',
  serverSlug: 'server',
  callerType: 'api_key',
  callerId: 'key',
  userId: 'alice',
  httpMethod: 'POST',
  rpcMethod: 'tools/call',
  tool: 'search',
  status: 200,
  errorCode: null,
  firstByteMs: 1,
  totalMs: 2,
  bytesIn: '3',
  bytesOut: '4',
  traceId: 'trace',
};

class FakeCalls implements Pick<McpCallStore, 'insert'> {
  readonly batches: McpCallRow[][] = [];
  isAway = false;
  /** A batch with such a row is refused whole, as PostgreSQL does it. */
  refusedStatus: number | undefined;
  /** What the next insertions fail with. */
  failures: (Error | undefined)[] = [];

  insert(rows: McpCallRow[]): Promise<void> {
    const failure = this.failures.shift();
    if (this.isAway || failure !== undefined) return Promise.reject(failure ?? new Error('away'));
    if (rows.some(({ status }) => status === this.refusedStatus)) {
      const driverError = Object.assign(new Error('out of range'), { code: '22003' });
      return Promise.reject(new QueryFailedError('INSERT', [], driverError));
    }
    this.batches.push(rows);
    return Promise.resolve();
  }

  get rows(): readonly McpCallRow[] {
    return this.batches.flat();
  }
}

function start() {
  const calls = new FakeCalls();
  const log = new GatheredLog('info');
  const lost = (): readonly unknown[] =>
    log.lines.filter((line) => line['event'] === 'mcp_calls_lost').map((line) => line['calls']);
  return { calls, lost, recorder: new McpCallRecorder(calls, new Clock(), log.logger) };
}

describe('a recorder of calls', () => {
  // Time passes only where a test says so.
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
  afterEach(() => void jest.useRealTimers());

  it('writes some at a time, each once and in order', async () => {
    const { calls, recorder } = start();
    for (let index = 0; index < 450; index += 1) recorder.record({ ...CALL, status: index });
    await Promise.all([recorder.flush(), recorder.flush()]);
    expect(calls.batches.map((batch) => batch.length)).toEqual([200, 200, 50]);
    expect(calls.rows.map(({ status }) => status)).toEqual(Array.from({ length: 450 }, (_none, index) => index));
  });

  it('writes a full batch without being asked, and the rest with the next one or when it is time', async () => {
    const { calls, recorder } = start();
    for (let status = 0; status < 199; status += 1) recorder.record({ ...CALL, status });
    await turn();
    expect(calls.batches).toEqual([]);
    for (let status = 199; status < 450; status += 1) recorder.record({ ...CALL, status });
    await turn();
    expect(calls.batches.map((batch) => batch.length)).toEqual([200, 200]);
    for (let status = 450; status < 600; status += 1) recorder.record({ ...CALL, status });
    await turn();
    expect(calls.rows.map(({ status }) => status)).toEqual(Array.from({ length: 600 }, (_none, index) => index));
    recorder.record(CALL);
    jest.advanceTimersByTime(500);
    await turn();
    expect(calls.rows).toHaveLength(601);
  });

  it('does not try a database that is away again with every row', async () => {
    const { calls, recorder } = start();
    calls.isAway = true;
    const tries = jest.spyOn(calls, 'insert');
    for (let status = 0; status < 300; status += 1) {
      recorder.record({ ...CALL, status });
      await turn();
    }
    expect(tries).toHaveBeenCalledTimes(1);
    calls.isAway = false;
    await recorder.flush();
    for (let status = 300; status < 500; status += 1) recorder.record({ ...CALL, status });
    await turn();
    expect(calls.rows.map(({ status }) => status)).toEqual(Array.from({ length: 500 }, (_none, index) => index));
  });

  it('goes on with full batches as soon as the database takes rows, also when a statement failed after the time', async () => {
    const { calls, recorder } = start();
    let failFirst: (error: Error) => void = () => undefined;
    jest.spyOn(calls, 'insert').mockImplementationOnce(() => new Promise((_done, fail) => (failFirst = fail)));
    for (let status = 0; status < 200; status += 1) recorder.record({ ...CALL, status });
    await turn();
    recorder.record({ ...CALL, status: 200 });
    jest.advanceTimersByTime(500);
    failFirst(new Error('timeout'));
    await turn();
    expect(calls.rows).toHaveLength(201);
    for (let status = 201; status < 401; status += 1) recorder.record({ ...CALL, status });
    await turn();
    expect(calls.rows.map(({ status }) => status)).toEqual(Array.from({ length: 401 }, (_none, index) => index));
  });

  it('keeps what a database that is away could not take, and no more than the newest 10,000', async () => {
    const { calls, lost, recorder } = start();
    calls.isAway = true;
    for (let index = 0; index < 10_050; index += 1) recorder.record({ ...CALL, status: index });
    await recorder.flush();
    calls.isAway = false;
    await recorder.flush();
    expect(calls.rows).toHaveLength(10_000);
    expect(calls.rows[0]?.status).toBe(50);
    // One line for all of them: as many as there are calls would be a flood of its own.
    expect(lost()).toEqual([50]);
  });

  it('gives up none that the database is taking just then', async () => {
    const { calls, lost, recorder } = start();
    for (let index = 0; index < 10_000; index += 1) recorder.record({ ...CALL, status: index });
    const writing = recorder.flush();
    await Promise.resolve();
    recorder.record({ ...CALL, status: 10_000 });
    await writing;
    const statuses = calls.rows.map(({ status }) => status);
    expect([statuses.length, new Set(statuses).size, lost()]).toEqual([10_000, 10_000, [1]]);
    expect(statuses).not.toContain(200);
  });

  it('writes a row once, although the database goes away between the halves of a batch that it has refused', async () => {
    const { calls, recorder } = start();
    for (let status = 0; status < 4; status += 1) recorder.record({ ...CALL, status });
    calls.refusedStatus = 2;
    calls.failures = [undefined, undefined, new Error('away')];
    await recorder.flush();
    expect(calls.rows.map(({ status }) => status)).toEqual([0, 1]);
    await recorder.flush();
    expect(calls.rows.map(({ status }) => status)).toEqual([0, 1, 3]);
  });

  it('makes texts that a column cannot hold into ones that it can', async () => {
    const { calls, recorder } = start();
    recorder.record({ ...CALL, tool: `a\u0000b\ud800${'x'.repeat(300)}`, rpcMethod: 'm'.repeat(200) });
    await recorder.flush();
    const [row] = calls.rows;
    expect(row?.tool?.startsWith('a\uFFFDb\uFFFDx')).toBe(true);
    expect([row?.tool?.length, row?.rpcMethod?.length]).toEqual([255, 128]);
  });

  it('cuts no character in two', async () => {
    const { calls, recorder } = start();
    recorder.record({ ...CALL, userId: `${'x'.repeat(254)}\u{1F600}\u{1F600}` });
    await recorder.flush();
    expect(calls.rows[0]?.userId).toBe(`${'x'.repeat(254)}\u{1F600}`);
  });
});
