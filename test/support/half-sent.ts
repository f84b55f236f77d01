import { type ClientRequest, request } from 'node:http';
import type { Answer } from './send.js';

/** A request of which only the head and the first bytes were sent, on a connection of its own. */
export class HalfSent {
  readonly answer: Promise<Answer>;
  /** Resolves when either side has closed the connection. */
  readonly closed: Promise<void>;
  private readonly outgoing: ClientRequest;
  private sent = 0;

  constructor(
    url: string,
    headers: Readonly<Record<string, string>>,
    private readonly body: string,
  ) {
    const length = { 'content-length': String(Buffer.byteLength(body)) };
    this.outgoing = request(url, { method: 'POST', agent: false, headers: { ...length, ...headers } });
    this.closed = new Promise((resolve) => this.outgoing.on('close', () => resolve()));
    this.answer = new Promise((resolve, reject) => {
      this.outgoing.on('error', reject);
      this.outgoing.on('response', (incoming) => {
        let text = '';
        incoming.on('data', (chunk: Buffer) => (text += chunk.toString()));
        incoming.on('error', reject);
        incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text }));
      });
    });
    // A disconnected client waits for no answer.
    this.answer.catch(() => undefined);
    this.send(1);
  }

  /** Sends the next characters of the body. */
  send(count: number): void {
    this.outgoing.write(this.body.slice(this.sent, this.sent + count));
    this.sent += count;
  }

  /** Sends the rest of the body. */
  finish(): void {
    this.outgoing.end(this.body.slice(this.sent));
  }

  leave(): void {
    this.outgoing.destroy();
  }
}
