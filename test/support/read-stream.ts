import { type IncomingHttpHeaders, request } from 'node:http';

export interface StreamRead {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly bytes: Buffer;
  /** `broken`: the connection was cut before the end of the answer. */
  readonly end: 'whole' | 'broken';
}

/** One POST, whose answer is read until it ends or breaks off. Rejects when there is no answer. */
export function readStream(url: string, headers: Readonly<Record<string, string>>, body: unknown): Promise<StreamRead> {
  return new Promise((resolve, reject) => {
    const asked = request(url, {
      method: 'POST',
      agent: false,
      headers: { 'content-type': 'application/json', ...headers },
    });
    asked.on('error', reject);
    asked.on('response', (message) => {
      const chunks: Buffer[] = [];
      message.on('data', (chunk: Buffer) => chunks.push(chunk));
      message.on('error', () => undefined);
      message.on('close', () =>
        resolve({
          status: message.statusCode ?? 0,
          headers: message.headers,
          text: Buffer.concat(chunks).toString(),
          bytes: Buffer.concat(chunks),
          end: message.complete ? 'whole' : 'broken',
        }),
      );
    });
    asked.end(JSON.stringify(body));
  });
}
