import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { AbortableClient, type ClientConnection } from '../common/http/client-connection.js';

/** Longest time for the rest of an answer whose client has left. */
const MAX_DRAIN_MS = 120_000;
const MAX_DRAINS = 64;

/** Calls that go on when their clients have left, since only the end of an answer says what it costs. */
@Injectable()
export class DrainedCalls {
  #running = 0;

  /** Runs `work`, whose call ends for its client only when too many others go on, or after a while. */
  async run<Result>(client: ClientConnection, work: (caller: ClientConnection) => Promise<Result>): Promise<Result> {
    // There is nothing yet that could be read to its end.
    if (client.aborted) return work(client);
    const caller = new AbortableClient();
    let timer: NodeJS.Timeout | undefined;
    const stopWatching = client.onAbort(() => {
      if (this.#running >= MAX_DRAINS) return caller.abort();
      this.#running += 1;
      timer = setTimeout(() => caller.abort(), MAX_DRAIN_MS);
    });
    try {
      return await work(caller);
    } finally {
      stopWatching();
      if (timer !== undefined) this.#running -= 1;
      clearTimeout(timer);
    }
  }
}

/** Passes an answer on to its client, and takes the rest of it when the client has left. */
export class OutlivingSink extends Writable {
  constructor(private readonly answer: ServerResponse) {
    super({ decodeStrings: false });
    answer.on('error', () => undefined);
  }

  override _write(chunk: Buffer | string, _encoding: BufferEncoding, done: () => void): void {
    if (this.answer.destroyed || this.answer.write(chunk)) return done();
    const go = (): void => {
      this.answer.off('drain', go).off('close', go);
      done();
    };
    this.answer.on('drain', go).on('close', go);
  }

  override _final(done: () => void): void {
    if (!this.answer.destroyed) this.answer.end();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    // After `end`, what was written is still on its way.
    if (!this.answer.writableEnded) this.answer.destroy();
    done(error);
  }
}
