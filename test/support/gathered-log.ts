import { Writable } from 'node:stream';
import { type JsonObject, readObject } from '../../src/common/json/read.js';
import { createLogger, type Logger } from '../../src/telemetry/logger.js';

/** A logger that keeps its output. */
export class GatheredLog {
  readonly logger: Logger;
  private readonly pieces: string[] = [];

  constructor(level: Parameters<typeof createLogger>[0]) {
    const sink = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        this.pieces.push(chunk.toString());
        done();
      },
    });
    this.logger = createLogger(level, sink);
  }

  get text(): string {
    return this.pieces.join('');
  }

  get lines(): readonly JsonObject[] {
    const texts = this.text.split('\n').filter((line) => line !== '');
    return texts.map((line) => readObject(JSON.parse(line), 'line'));
  }
}
