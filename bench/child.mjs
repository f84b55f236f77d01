// Loaded into every process that a benchmark starts, and into its threads: reports its CPU time, where the system does not
// show it from outside, and ends when the benchmark has ended.
import { existsSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { BroadcastChannel, isMainThread } from 'node:worker_threads';

/** The thread that asks, by its id (proc(5)); Linux only. */
const OWN_THREAD = '/proc/thread-self';

/** Reports the port to the benchmark. */
export function announce(port) {
  process.send({ port });
}

const threads = new BroadcastChannel('threads of a benchmark');
threads.unref();

if (isMainThread) {
  threads.onmessage = ({ data: thread }) => process.send({ thread });
  process.on('message', (message) => message === 'cpu' && process.send({ cpu: process.cpuUsage() }));
  process.on('disconnect', () => process.exit());
  process.channel.unref();
} else if (existsSync(OWN_THREAD)) {
  threads.postMessage(basename(readlinkSync(OWN_THREAD)));
}
