import { createServer, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import express from 'express';
import { TrustedProxies } from '../config/trusted-proxies.js';
import { eventually } from '../../test/support/eventually.js';
import { type ConnectionLimitOptions, limitClientsOfProxies, limitConnections } from './connection-limits.js';

const refused: string[] = [];
const opened: Socket[] = [];
let server: Server | undefined;

afterEach(async () => {
  for (const socket of opened.splice(0)) socket.destroy();
  server?.closeAllConnections();
  await new Promise((closed) => (server === undefined ? closed(undefined) : server.close(closed)));
  refused.length = 0;
});

function optionsWith(changes: Partial<ConnectionLimitOptions>): ConnectionLimitOptions {
  return {
    maxConnections: 100,
    maxPerAddress: 100,
    isProxy: () => false,
    onRefused: (limit) => refused.push(limit),
    ...changes,
  };
}

async function listen(started: Server): Promise<number> {
  server = started;
  await new Promise<void>((listening) => started.listen(0, '127.0.0.1', listening));
  return Number(Object(started.address()).port);
}

/** A connection from an address of this machine, which is a network of them. */
async function open(port: number, localAddress = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  opened.push(socket.on('error', () => undefined));
  await new Promise((done) => socket.once('connect', done));
  return socket;
}

async function openMany(port: number, count: number, localAddress?: string): Promise<readonly Socket[]> {
  const sockets: Socket[] = [];
  for (let time = 0; time < count; time += 1) sockets.push(await open(port, localAddress));
  return sockets;
}

describe('limits of connections', () => {
  it('closes connections above the limit of an address, and takes others when one has ended', async () => {
    const started = createServer();
    limitConnections(started, optionsWith({ maxPerAddress: 2 }));
    const port = await listen(started);
    const [first, , third] = await openMany(port, 3);
    await eventually(() => third?.destroyed === true || third?.readableEnded === true || refused.length === 1);
    const other = await open(port, '127.0.0.2');
    first?.destroy();
    await eventually(async () => {
      await open(port);
      await sleep(20);
      return opened.at(-1)?.destroyed === false && opened.at(-1)?.readableEnded === false;
    });
    expect(other.destroyed).toBe(false);
    expect(new Set(refused)).toEqual(new Set(['address']));
  });

  it('closes connections above the limit in all', async () => {
    const started = createServer();
    limitConnections(started, optionsWith({ maxConnections: 3 }));
    const port = await listen(started);
    await openMany(port, 4);
    await eventually(() => refused.length === 1);
    expect(refused).toEqual(['total']);
  });

  it('does not count the connections of a proxy by their address', async () => {
    const started = createServer();
    const proxies = new TrustedProxies(['127.0.0.0/24']);
    limitConnections(started, optionsWith({ maxPerAddress: 1, isProxy: (address) => proxies.has(address) }));
    const port = await listen(started);
    await openMany(port, 3);
    await open(port, '127.0.1.1');
    await open(port, '127.0.1.1');
    await eventually(() => refused.length === 1);
    expect(refused).toEqual(['address']);
  });
});

describe('limits of clients behind a proxy', () => {
  /** A server that holds requests, behind proxies of 127.0.0.0/24. */
  async function startHeld(): Promise<{
    readonly ask: (forwarded: string) => Promise<number>;
    readonly release: () => void;
  }> {
    const held: (() => void)[] = [];
    const proxies = new TrustedProxies(['127.0.0.0/24', '10.0.0.0/8']);
    const isProxy = (address: string): boolean => proxies.has(address);
    const app = express();
    app.set('trust proxy', isProxy);
    app.use(limitClientsOfProxies(optionsWith({ maxPerAddress: 2, isProxy })));
    app.use((_request, response) => void held.push(() => response.end()));
    const handleError: express.ErrorRequestHandler = (error, _request, response, _next) =>
      void response.status(Object(error).status).end();
    app.use(handleError);
    const port = await listen(createServer(app));
    const ask = async (forwarded: string): Promise<number> => {
      const before = held.length;
      const answer = fetch(`http://127.0.0.1:${port}/`, { headers: { 'x-forwarded-for': forwarded } });
      answer.catch(() => undefined);
      const status = answer.then((got) => got.status);
      return Promise.race([status, eventually(() => held.length > before).then(() => 0)]);
    };
    return { ask, release: () => held.splice(0).forEach((end) => end()) };
  }

  it('refuses more requests in flight than one client may have, by the address that the proxy names', async () => {
    const { ask, release } = await startHeld();
    // The client chooses what stands before the address that the proxy adds.
    const asked = [await ask('1.2.3.4'), await ask('9.9.9.9, 1.2.3.4, 10.1.1.1'), await ask('8.8.8.8, 1.2.3.4')];
    expect(asked).toEqual([0, 0, 429]);
    expect(await ask('1.2.3.5')).toBe(0);
    expect(refused).toEqual(['address']);
    release();
    await eventually(async () => (await ask('1.2.3.4')) === 0);
    release();
  });

  it('takes the addresses of one IPv6 network for one client', async () => {
    const { ask, release } = await startHeld();
    const asked = [await ask('2001:db8::1'), await ask('2001:db8::2'), await ask('2001:db8:0:0:ffff::3')];
    expect(asked).toEqual([0, 0, 429]);
    expect(await ask('2001:db8:0:1::1')).toBe(0);
    release();
  });

  it('does not limit the requests of the proxy itself', async () => {
    const { ask, release } = await startHeld();
    expect([await ask(''), await ask('10.1.1.1'), await ask(''), await ask('')]).toEqual([0, 0, 0, 0]);
    release();
  });
});
