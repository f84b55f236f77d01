import { GatewayError } from '../../../common/errors/gateway.error.js';
import { isObject, type JsonObject, parseForeignJson } from '../../../common/json/read.js';
import type { StreamMeter } from '../../../gateway/billable-use.js';
import { readEvent, EventSplitter } from '../../../upstream/streams/event-splitter.js';
import { type EventForm, TranslatedMeter } from '../translated-meter.js';
import type { Translation, TranslationTarget } from '../translator.types.js';

export const TARGET: TranslationTarget = {
  provider: 'openai-compatible',
  pricedModel: 'some-model',
  refusesMaxTokens: false,
  maxOutput: undefined,
  answerId: 'a1',
  now: 1_800_000_000,
};

const MAX_EVENT_BYTES = 1024 * 1024;
const PASSING: StreamMeter = {
  push: (chunk) => chunk,
  end: () => Buffer.alloc(0),
  usage: { counts: {} },
  hasOutput: false,
};
const NAMED: EventForm = {
  toText: (event) => `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`,
  endMark: '',
};

/** The bytes of a stream as its caller gets them. @param chunks as they come from the provider */
export function translatedBytes(translation: Translation, chunks: readonly Buffer[], form = NAMED): string {
  const meter = new TranslatedMeter(PASSING, translation, form);
  meter.beginStream();
  return Buffer.concat([...chunks.map((chunk) => meter.push(chunk)), meter.end()]).toString();
}

/** The events of a stream as its caller gets them. */
export function translatedEvents(translation: Translation, text: string): readonly JsonObject[] {
  return eventsIn(translatedBytes(translation, [Buffer.from(text)]));
}

function eventsIn(text: string): readonly JsonObject[] {
  return new EventSplitter(MAX_EVENT_BYTES)
    .push(Buffer.from(text))
    .map((event) => parseForeignJson(readEvent(event).data ?? ''))
    .filter(isObject);
}

/** A text in pieces, cut at any bytes. */
export function cutAt(text: string, cuts: readonly number[]): readonly Buffer[] {
  const bytes = Buffer.from(text);
  const places = [...cuts.map((cut) => cut % (bytes.length + 1)), 0, bytes.length].sort((a, b) => a - b);
  return places.slice(1).map((end, index) => bytes.subarray(places[index], end));
}

/** The refusal that a translation throws; anything else fails the test. */
export function refusalOf(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const { code, param, status } = error;
    return { code, param, status };
  }
}
