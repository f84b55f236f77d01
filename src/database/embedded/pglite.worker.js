// PGlite's calls are synchronous: in a thread of its own they cannot stall the gateway. Plain JavaScript, since Node
// starts this file by itself, from src under the tests and from dist otherwise.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parentPort, workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';
import { PGLiteSocketServer } from '@electric-sql/pglite-socket';

const database = await PGlite.create(workerData.dataDir);
const { socketPath: path, maxConnections } = workerData;
const server = new PGLiteSocketServer({ db: database, path, maxConnections });
await server.start();

// To make a new database takes 300 MB, which nothing holds in the next turn. V8 would keep them: they lie outside of its heap.
setFlagsFromString('--expose-gc');
setImmediate(() => runInNewContext('gc()'));

parentPort.postMessage('ready');

// The first message is the request to stop; the thread ends when nothing is left open.
await new Promise((stop) => parentPort.once('message', stop));
await server.stop();
await database.close();
