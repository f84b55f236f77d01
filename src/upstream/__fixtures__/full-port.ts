import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

/** Listens, and then stands still: it accepts no connection. */
const STANDS_STILL = `
  const { parentPort } = require('node:worker_threads');
  const server = require('node:net').createServer();
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });`;
/** On this machine, a connection that is made takes less. */
const CONNECTED_MS = 200;
const MOST_WAITING = 20;

export interface FullPort {
  readonly port: number;
  close(): Promise<void>;
}

/** A port of which the system's queue is full: who connects to it waits without an answer, as behind a firewall that drops. */
export async function startFullPort(): Promise<FullPort> {
  const worker = new Worker(STANDS_STILL, { eval: true });
  const [port]: unknown[] = await once(worker, 'message');
  if (typeof port !== 'number') throw new Error('no port');
  const waiting: Socket[] = [];
  for (let isFull = false; !isFull;) {
    if (waiting.length > MOST_WAITING) throw new Error('the queue has no end');
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    waiting.push(socket);
    await Promise.race([once(socket, 'connect'), sleep(CONNECTED_MS)]);
    // After a turn that took long, a timer comes before the connection that was made meanwhile.
    await turn();
    isFull = socket.connecting;
  }
  return {
    port,
    close: async () => {
      for (const socket of waiting) socket.destroy();
      await worker.terminate();
    },
  };
}
