// Loaded into every process that a benchmark starts: tells how much CPU time it has used, where the system does not say
// it from outside, and ends when the benchmark is no more.

/** Tells the benchmark the port. */
export function announce(port) {
  process.send({ port });
}

process.on('message', (message) => message === 'cpu' && process.send({ cpu: process.cpuUsage() }));
process.on('disconnect', () => process.exit());
process.channel.unref();
