import type { Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { startHttp } from '../__fixtures__/loopback.js';
import { EgressPolicy } from './egress-policy.js';
import { EgressRefusedError } from './egress-refused.error.js';
import { guardedConnector } from './guarded-connector.js';

const OPTIONS = { connectTimeoutMs: 10_000 };

function connect(policy: EgressPolicy, target: { protocol: string; hostname: string; port: string }): Promise<Socket> {
  return new Promise((resolve, reject) => {
    guardedConnector(policy, OPTIONS)(target, (error, socket) => (socket ? resolve(socket) : reject(error)));
  });
}

describe('guardedConnector', () => {
  it.each([
    ['https:', '127.0.0.1', 'address'],
    ['https:', '::1', 'address'],
    ['https:', '::ffff:127.0.0.1', 'address'],
    ['https:', 'fe80::1%eth0', 'address'],
    ['https:', 'localhost', 'host'],
    ['http:', '127.0.0.1', 'scheme'],
    ['http:', 'api.example.com', 'scheme'],
  ])('opens no socket for %s//%s', async (protocol, hostname, reason) => {
    const server = await startHttp((_request, response) => response.end());
    await expect(
      connect(new EgressPolicy([]), { protocol, hostname, port: String(server.port) }),
    ).rejects.toMatchObject({ reason });
    expect(server.connections).toBe(0);
    await server.close();
  });

  it('reports a refusal after the call has returned', async () => {
    let reported = false;
    guardedConnector(new EgressPolicy([]), OPTIONS)({ protocol: 'https:', hostname: '10.0.0.1', port: '' }, () => {
      reported = true;
    });
    expect(reported).toBe(false);
    await Promise.resolve();
    expect(reported).toBe(true);
  });

  it('connects to the address that was checked, after one resolution per connection', async () => {
    const server = await startHttp((_request, response) => response.end());
    const asked: string[] = [];
    // Bound again after the first answer: a second look-up for the socket would be refused or lead elsewhere.
    const policy = new EgressPolicy(['127.0.0.1', `provider.test:${server.port + 1}`], (hostname) => {
      asked.push(hostname);
      return Promise.resolve([{ address: asked.length === 1 ? '127.0.0.1' : '10.0.0.1', family: 4 }]);
    });
    const target = { protocol: 'https:', hostname: 'provider.test', port: String(server.port) };

    // The server speaks no TLS: only that the connector reached it matters here.
    await expect(connect(policy, target)).rejects.not.toBeInstanceOf(EgressRefusedError);
    expect([asked.length, server.connections]).toEqual([1, 1]);
    await expect(connect(policy, target)).rejects.toMatchObject({ reason: 'address' });
    expect([asked.length, server.connections]).toEqual([2, 1]);
    await server.close();
  });

  it('restricts an allow-list entry to its port', async () => {
    const server = await startHttp((_request, response) => response.end());
    const policy = new EgressPolicy([`vault.test:${server.port}`], () =>
      Promise.resolve([{ address: '127.0.0.1', family: 4 }]),
    );

    const socket = await connect(policy, { protocol: 'http:', hostname: 'vault.test', port: String(server.port) });
    expect(socket.remoteAddress).toBe('127.0.0.1');
    socket.destroy();
    await expect(connect(policy, { protocol: 'https:', hostname: 'vault.test', port: '443' })).rejects.toMatchObject({
      reason: 'address',
    });
    await server.close();
  });
});
