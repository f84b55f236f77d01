import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';

const MAX_LISTENERS = 20;

/**
 * Streams pages of objects as NDJSON, as fast as the client reads. The first page is read before the head is sent, so that
 * its failure is a normal error; a later failure ends the connection.
 */
export async function sendLines(response: Response, pages: AsyncGenerator<readonly object[], void>): Promise<void> {
  const first = await pages.next();
  response.setHeader('content-type', 'application/x-ndjson');
  // A pipeline adds some to those that each response has.
  response.setMaxListeners(MAX_LISTENERS);
  const lines = Readable.from(linesOf(first, pages), { objectMode: true });
  await pipeline(lines, response).catch(() => response.destroy());
}

async function* linesOf(
  first: IteratorResult<readonly object[], void>,
  rest: AsyncGenerator<readonly object[], void>,
): AsyncGenerator<string, void> {
  if (first.done === true) return;
  yield textOf(first.value);
  for await (const page of rest) yield textOf(page);
}

function textOf(page: readonly object[]): string {
  return page.map((item) => `${JSON.stringify(item)}\n`).join('');
}
