import type { Writable } from 'node:stream';
import type { Response } from 'express';
import type { BillableStream, StreamMeter, UsageEstimate } from '../gateway/billable-use.js';
import type { JsonObject } from '../common/json/read.js';
import type { RelayedAnswer, UpstreamHead } from '../upstream/upstream.types.js';
import type { Dialect, InferenceCall, InferenceFacts } from './dialects/dialect.types.js';
import { requestedModes } from './dialects/service-mode.js';
import { DiscreetMeter } from './discreet-meter.js';
import { OutlivingSink } from './drained-calls.js';
import { errorInstead, isNoAnswer, mayFailOver } from './failed-answers.js';
import { HeldStream } from './held-stream.js';
import { beginStream, isStream, reply } from './replies.js';
import { type CallersDialect, inCallersWords, type TranslatedCall, translatedMeter } from './translated-calls.js';
import type { TranslatedMeter } from './translators/translated-meter.js';

/** The parts of a call at one target that its answer needs. */
export interface AnswerPlan<Facts extends InferenceFacts> {
  readonly dialect: Dialect<Facts>;
  readonly call: InferenceCall<Facts>;
  /** The members of the body that the dialect reads. */
  readonly members: JsonObject;
  readonly noteRoom: BillableStream['noteRoom'];
  readonly response: Response;
  /** Whether another target can take the call, as long as the client has received nothing. */
  readonly hasNext: boolean;
  /** Set when the provider does not speak the client's dialect. */
  readonly translated: TranslatedCall | undefined;
  /** Whether the answer is read to its end when the client disconnects. */
  readonly isDrained: boolean;
  /** The secrets that the client must not see. */
  readonly secrets: readonly string[];
  /** Records the id of the created object; undefined when the call creates none. */
  readonly record: ((id: string) => Promise<void>) | undefined;
}

/** Relays the answer of one target to the client: its meter, its stream and its result. */
export class AnswerRelay<Facts extends InferenceFacts> implements BillableStream {
  readonly endpoint: string;
  readonly model: string;
  readonly noteRoom: BillableStream['noteRoom'];
  /** The dialect of the client. */
  readonly dialect: CallersDialect;
  readonly isDrained: boolean;
  #meter: StreamMeter | undefined;
  #translation: TranslatedMeter | undefined;
  #held: HeldStream | undefined;
  #recorded: Promise<void> | undefined;
  #answerId: string | undefined;

  constructor(private readonly plan: AnswerPlan<Facts>) {
    const { dialect, translated, call, noteRoom } = plan;
    this.dialect = translated?.dialect ?? dialect;
    this.endpoint = this.dialect.endpoint;
    this.model = call.facts.model;
    this.noteRoom = noteRoom;
    this.isDrained = plan.isDrained;
  }

  estimate(): UsageEstimate {
    const { dialect, call, members, translated } = this.plan;
    return inCallersWords(estimateOf(dialect, call, members), translated);
  }

  newMeter(): StreamMeter {
    const { dialect, call, secrets, translated } = this.plan;
    if (translated === undefined) {
      return (this.#meter = new DiscreetMeter(
        dialect.newMeter(call, (id) => this.#noteId(id)),
        secrets,
      ));
    }
    const meter = new DiscreetMeter(dialect.newMeter({ ...call, isTranslated: true }), secrets);
    return (this.#meter = this.#translation = translatedMeter(meter, translated));
  }

  /** Returns the sink of a stream; undefined for a whole answer. */
  readonly sinkFor = (head: UpstreamHead): Writable | undefined => {
    this.#meter?.noteHead?.(head);
    if (!isStream(head)) return undefined;
    this.#translation?.beginStream();
    const begin = (): Writable => this.#begin(head);
    const { hasNext, record } = this.plan;
    if (!hasNext && record === undefined) return begin();
    this.#held = new HeldStream({
      begin,
      hasOutput: () => this.#meter?.hasOutput === true,
      hasFailed: () => this.#hasFailed(),
      recording: () => this.#recorded,
    });
    if (!hasNext) this.#held.begin();
    return this.#held;
  };

  /**
   * Replies with an answer that was not streamed.
   * @throws GatewayError for an error that arrived instead of an answer
   */
  async complete({ status, headers, body }: RelayedAnswer): Promise<void> {
    if (this.#held?.isFailed === true || (body !== undefined && this.#hasFailed())) throw errorInstead(status);
    if (body === undefined) return;
    if (this.plan.hasNext && isNoAnswer(body)) throw errorInstead(status);
    if (this.#translation?.error !== undefined) throw this.#translation.error;
    await this.#recorded;
    reply(this.plan.response, { status, headers, body });
  }

  /** The error to report: that of the translation, if there is one, since it caused all others. */
  reasonFor(error: unknown): unknown {
    return this.#translation?.error ?? error;
  }

  #begin(head: UpstreamHead): Writable {
    const { response } = this.plan;
    beginStream(this.dialect, response, head, () => this.#translation?.answerId ?? this.#answerId);
    return this.isDrained ? new OutlivingSink(response) : response;
  }

  /** Whether an error arrived instead of an answer, and another target may succeed. */
  #hasFailed(): boolean {
    const failure = this.plan.hasNext ? this.#meter?.failure : undefined;
    return failure !== undefined && mayFailOver(failure);
  }

  #noteId(id: string): void {
    this.#answerId = id;
    const recorded = this.plan.record?.(id);
    this.#recorded = recorded;
    // For a stream, the failure is only logged.
    recorded?.then(() => (this.#recorded = undefined)).catch(() => undefined);
  }
}

/** The estimate of a call: from the request, its dialect and its mode. */
export function estimateOf<Facts extends InferenceFacts>(
  dialect: Dialect<Facts>,
  call: InferenceCall<Facts>,
  members: JsonObject,
): UsageEstimate {
  const { unit, counts, unbounded } = dialect.estimate(call);
  const modes = dialect.modesOf?.(members) ?? requestedModes(members);
  return { unit, counts, unbounded, mayUse: dialect.mayUse, modes };
}
