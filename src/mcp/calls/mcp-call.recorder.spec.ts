import { describe, expect, it } from '@jest/globals';
import { QueryFailedError } from 'typeorm';
import { GatheredLog } from '../../../test/support/gathered-log.js';
import { MCP_CALL } from './__fixtures__/mcp-call.js';
import { McpCallRecorder } from './mcp-call.recorder.js';

const ROW = { shared: '{}', own: '{}' };

/** What the log says of a call that the database answers so. */
async function linesAfter(failure: Error): Promise<readonly unknown[]> {
  const log = new GatheredLog('info');
  const recorder = new McpCallRecorder({ prepare: () => ROW, insert: () => Promise.reject(failure) }, log.logger);
  recorder.add(MCP_CALL);
  await recorder.flush();
  return log.lines;
}

describe('McpCallRecorder', () => {
  it('logs rows that could not be written yet, without quoting the cause', async () => {
    const lines = await linesAfter(new Error('quoted text'));
    expect(lines).toMatchObject([
      { level: 'warn', event: 'mcp_calls_not_written', calls: 1, error: { name: 'Error' } },
    ]);
    expect(JSON.stringify(lines)).not.toContain('quoted text');
  });

  it('logs rows that the database refuses', async () => {
    const refusal = new QueryFailedError('INSERT', [], Object.assign(new Error('quoted text'), { code: '22003' }));
    const lines = await linesAfter(refusal);
    expect(lines).toMatchObject([{ level: 'error', event: 'mcp_calls_lost', calls: 1, error: { code: '22003' } }]);
    expect(JSON.stringify(lines)).not.toContain('quoted text');
  });
});
