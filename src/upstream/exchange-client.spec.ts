import { connect as connectTo, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { type buildConnector, type Dispatcher, Pool } from 'undici';
import { until } from './__fixtures__/calls.js';
import { type Loopback, startHttp } from './__fixtures__/loopback.js';
import { type Connecting, ExchangeClient, type ExchangeOptions } from './exchange-client.js';

/** An exchange that records how it ended. */
class Watched implements Dispatcher.DispatchHandler, Connecting {
  settled = false;
  outcome: string | undefined;

  onRequestStart(): void {
    if (this.settled) throw new Error('over');
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    this.outcome = String(status);
  }

  onResponseEnd(): void {
    this.settled = true;
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.outcome = error.message;
    this.settled = true;
  }
}

let server: Loopback;
let pool: Pool;
/** Attempts to connect that the test decides about; later ones are let through. */
let held: buildConnector.Callback[];
let holding: number;

beforeEach(async () => {
  server = await startHttp((request, response) => {
    request.resume().on('end', () => response.end('ok'));
  });
  held = [];
  holding = 0;
  const connect: buildConnector.connector = (_target, callback) => {
    if (held.length < holding) return void held.push(callback);
    const socket: Socket = connectTo(server.port, '127.0.0.1', () => callback(null, socket));
  };
  pool = new Pool(server.origin, { connections: 1, factory: (url) => new ExchangeClient(url, connect, {}) });
});

afterEach(async () => {
  await pool.destroy();
  await server.close();
});

function dispatch(more: Partial<ExchangeOptions> = {}): Watched {
  const exchange = new Watched();
  const options: ExchangeOptions = { path: '/', method: 'POST', headers: [], exchange, ...more };
  pool.dispatch(options, exchange);
  return exchange;
}

function refuse(at: number): void {
  held[at]?.(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }), null);
}

it('connects for a wanted exchange, whatever else is in its queue', async () => {
  holding = 2;
  const refused = dispatch();
  dispatch();
  const givenUp = dispatch();
  // The first fails, and its client leaves the pool with the second: the third waits for a client.
  refuse(0);
  await until(() => held.length === 2);
  givenUp.settled = true;
  // A client is made for this one. The pool puts the third behind it before it has a connection, since a stream begins later.
  const wanted = dispatch({ body: Readable.from(['x'], { objectMode: false }) });
  await until(() => wanted.settled);
  expect([refused.outcome, wanted.outcome]).toEqual(['refused', '200']);
});

it('does not connect for exchanges that are over, and continues', async () => {
  holding = 1;
  let failures = 0;
  // At each failure, the pool drops the client.
  pool.on('connectionError', () => (failures += 1));
  const refused = dispatch();
  const over = [dispatch(), dispatch()];
  for (const exchange of over) exchange.settled = true;
  refuse(0);
  await until(() => refused.settled);
  expect(server.connections).toBe(0);
  const next = dispatch();
  await until(() => next.settled);
  expect([refused.outcome, next.outcome, server.connections, failures]).toEqual(['refused', '200', 1, 1]);
});

it('is free again after a request that undici refuses', async () => {
  for (let each = 0; each < 3; each += 1) {
    expect(dispatch({ headers: ['authorization', 'Bearer \u20ac'] }).outcome).toContain('invalid authorization header');
    const next = dispatch();
    await until(() => next.settled);
    expect(next.outcome).toBe('200');
  }
});
