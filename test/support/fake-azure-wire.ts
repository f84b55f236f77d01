import type { IncomingMessage, ServerResponse } from 'node:http';

/** Faults of a service on the internet that replace its answer. */
export type Misbehaviour =
  'throttled' | 'down' | 'down_once' | 'html' | 'html_404' | 'empty' | 'half' | 'huge' | 'slow' | 'redirect' | 'cut';

const HTML = { 'content-type': 'text/html' } as const;
const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' } as const;

export function answerJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { ...JSON_TYPE, ...headers }).end(JSON.stringify(body));
}

/** Simulates the fault; returns whether it has answered. A slow service never does. */
export function misbehave(behaviour: Misbehaviour | undefined, response: ServerResponse): boolean {
  switch (behaviour) {
    case undefined:
      return false;
    case 'throttled':
      answerJson(
        response,
        429,
        { error: { code: 'Throttled', message: 'Request was not processed because too many requests were received.' } },
        { 'retry-after': '30' },
      );
      return true;
    case 'down':
    case 'down_once':
      answerJson(
        response,
        503,
        { error: { code: 'ServiceUnavailable', message: 'The service is unavailable.' } },
        { 'retry-after': '30' },
      );
      return true;
    case 'html':
      response.writeHead(200, HTML).end('<html>please log in</html>');
      return true;
    case 'html_404':
      response.writeHead(404, HTML).end('<html>no such page</html>');
      return true;
    case 'empty':
      response.writeHead(200, JSON_TYPE).end();
      return true;
    case 'half':
      response.writeHead(200, { ...JSON_TYPE, 'content-length': '400' });
      response.write('{"value":"half-a-sec', () => response.socket?.destroy());
      return true;
    case 'huge':
      response.writeHead(200, JSON_TYPE).end(JSON.stringify({ value: 'x'.repeat(3 * 1024 * 1024) }));
      return true;
    case 'slow':
      return true;
    case 'redirect':
      response.writeHead(302, { location: 'https://elsewhere.azure.test/' }).end();
      return true;
    case 'cut':
      response.socket?.destroy();
      return true;
    default:
      throw new Error(`unknown behaviour ${String(behaviour satisfies never)}`);
  }
}

export async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}
