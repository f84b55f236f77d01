import { isObject, type JsonObject, parseForeignJson } from '../../common/json/read.js';
import { EventSplitter, readEvent } from '../../upstream/streams/event-splitter.js';
import type { BodyFilter } from '../../upstream/upstream.types.js';

/** Longer events are not read. Their job is polled later. */
const MAX_EVENT_BYTES = 1_048_576;
const NO_BYTES = Buffer.alloc(0);

/** Reads the states of a job from a stream of events, which passes unchanged. */
export class JobEvents implements BodyFilter {
  readonly #splitter = new EventSplitter(MAX_EVENT_BYTES, 'split');
  /** The last state of the job; undefined when no event has shown it. */
  latest: JsonObject | undefined;

  /**
   * @param types of the events that have the job as their data
   * @param onJob gets each state of the job. Must not throw.
   */
  constructor(
    private readonly types: RegExp | undefined,
    private readonly onJob: (job: JsonObject) => void,
  ) {}

  push(chunk: Buffer): Buffer {
    if (this.types !== undefined) for (const event of this.#splitter.push(chunk)) this.#read(event, this.types);
    return chunk;
  }

  end(): Buffer {
    return NO_BYTES;
  }

  #read(event: Buffer, types: RegExp): void {
    const { type, data } = readEvent(event);
    const job = data !== undefined && types.test(type) ? parseForeignJson(data) : undefined;
    if (!isObject(job)) return;
    this.latest = job;
    this.onJob(job);
  }
}
