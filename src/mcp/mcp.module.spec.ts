import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { createLogger } from '../telemetry/logger.js';
import { McpModule } from './mcp.module.js';

describe('McpModule at shutdown', () => {
  it('continues when the proxy fails to close, and logs that without quoting anything', async () => {
    const lines = new PassThrough();
    const close = (): Promise<void> => Promise.reject(new Error('secret of a server'));
    const module = new McpModule({ close }, { close: () => Promise.resolve() }, createLogger('info', lines));
    await expect(module.onApplicationShutdown()).resolves.toBeUndefined();
    const line = String(lines.read());
    expect(JSON.parse(line)).toMatchObject({ level: 'error', event: 'mcp_close_failed', error: { name: 'Error' } });
    expect(line).not.toContain('secret of a server');
  });

  it('waits for the proxy to close, then writes the remaining rows', async () => {
    const steps: string[] = [];
    const close = async (graceMs: number): Promise<void> => {
      await new Promise((resolve) => setImmediate(resolve));
      steps.push(`closed after ${graceMs} ms`);
    };
    const written = async (): Promise<void> => void steps.push('written');
    await new McpModule(
      { close },
      { close: written },
      createLogger('silent', new PassThrough()),
    ).onApplicationShutdown();
    expect(steps).toEqual(['closed after 0 ms', 'written']);
  });
});
