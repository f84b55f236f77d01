import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { AbortableClient, type ClientConnection } from '../common/http/client-connection.js';

/** The longest time for the rest of an answer after its client disconnected. */
const MAX_DRAIN_MS = 120_000;
const MAX_DRAINS = 64;

/** Continues calls after their clients disconnect, because only the end of an answer reports its cost. */
@Injectable()
export class DrainedCalls {
  #running = 0;

  /**
   * Runs `work`. When the client disconnects, its call continues for 2 minutes at most, unless 64 others already do.
   */
  async run<Result>(client: ClientConnection, work: (caller: ClientConnection) => Promise<Result>): Promise<Result> {
    // The client disconnected before the call began, so there is no answer to read.
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

/** Writes an answer to its client, and discards the rest when the client has disconnected. */
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
    // After `end`, written bytes may still be in flight.
    if (!this.answer.writableEnded) this.answer.destroy();
    done(error);
  }
}
