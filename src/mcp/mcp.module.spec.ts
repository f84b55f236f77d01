import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { createLogger } from '../telemetry/logger.js';
import { McpModule } from './mcp.module.js';

describe('the end of the gateway', () => {
  it('is not held up by connections that do not close, and the log says so without quoting anything', async () => {
    const lines = new PassThrough();
    const close = (): Promise<void> => Promise.reject(new Error('secret of a server'));
    const module = new McpModule({ close }, createLogger('info', lines));
    await expect(module.onApplicationShutdown()).resolves.toBeUndefined();
    const line = String(lines.read());
    expect(JSON.parse(line)).toMatchObject({ level: 'error', event: 'mcp_close_failed', error: { name: 'Error' } });
    expect(line).not.toContain('secret of a server');
  });

  it('waits for connections that close', async () => {
    const steps: string[] = [];
    const close = async (graceMs: number): Promise<void> => {
      await new Promise((resolve) => setImmediate(resolve));
      steps.push(`closed after ${graceMs} ms`);
    };
    await new McpModule({ close }, createLogger('silent', new PassThrough())).onApplicationShutdown();
    expect(steps).toEqual(['closed after 0 ms']);
  });
});
