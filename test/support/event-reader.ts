import { request } from 'node:http';
import { EventSplitter } from '../../src/upstream/streams/event-splitter.js';
import type { Message } from './send.js';

export interface SeenEvent {
  readonly id: string | undefined;
  readonly data: string;
}

/** Reads an event stream while it arrives, and can be cut off in the middle. */
export class EventReader {
  readonly events: SeenEvent[] = [];
  status = 0;
  hasEnded = false;
  /** Whether the stream ended regularly and was not cut off. */
  isWhole = false;
  private readonly splitter = new EventSplitter(1024 * 1024);
  private readonly asking;

  constructor(url: string, { method = 'POST', headers = {}, body }: Message) {
    this.asking = request(url, { method, headers, agent: false });
    this.asking.on('error', () => (this.hasEnded = true));
    this.asking.on('response', (answer) => {
      this.status = answer.statusCode ?? 0;
      answer.on('data', (chunk: Buffer) => {
        for (const event of this.splitter.push(chunk)) this.note(event.toString());
      });
      answer
        .on('error', () => undefined)
        .on('close', () => {
          this.isWhole = answer.complete;
          this.hasEnded = true;
        });
    });
    this.asking.end(body);
  }

  get ids(): readonly string[] {
    return this.events.flatMap(({ id }) => id ?? []);
  }

  cut(): void {
    this.asking.destroy();
  }

  private note(text: string): void {
    const id = /^id: (.*)$/m.exec(text)?.[1];
    this.events.push({ id, data: /^data: (.*)$/m.exec(text)?.[1] ?? '' });
  }
}
