import { isObject, type JsonObject } from '../../src/common/json/read.js';
import { eventually } from './eventually.js';
import type { TestApp } from './test-app.js';

/** The log line of the request with this trace id. It is written when the connection ends, possibly after the answer. */
export async function requestLine(app: Pick<TestApp, 'log'>, traceId: string): Promise<JsonObject> {
  let line = findLine(app.log(), traceId);
  await eventually(() => (line ??= findLine(app.log(), traceId)) !== undefined);
  return line ?? {};
}

function findLine(log: string, traceId: string): JsonObject | undefined {
  return log
    .split('\n')
    .filter((text) => text.includes(traceId))
    .map((text): unknown => JSON.parse(text))
    .filter((line) => isObject(line))
    .find((line) => line['event'] === 'request' && line['trace_id'] === traceId);
}
