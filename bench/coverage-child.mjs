// Preloaded into a gateway by coverage-of-a-call.mjs. On the message `coverage` it sends our functions that ran since the last one.
import { Session } from 'node:inspector/promises';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  process.on('message', (message) => {
    if (message === 'coverage') void send(session);
  });
}

async function send(session) {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  process.send({ coverage: result.filter(({ url }) => url.includes('/dist/src/')).flatMap(functionsThatRan) });
}

function functionsThatRan({ url, functions }) {
  const file = url.slice(url.indexOf('/dist/src/') + '/dist/'.length);
  return functions
    .filter(({ ranges: [whole] }) => whole.count > 0)
    .map(({ functionName, ranges: [whole] }) => `${file}\t${functionName || '(anonymous)'}@${whole.startOffset}`);
}
