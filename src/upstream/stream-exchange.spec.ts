import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Dispatcher } from 'undici';
import { callTo, FakeCaller } from './__fixtures__/calls.js';
import { Collector, Valve } from './__fixtures__/sinks.js';
import { CallDeadline } from './call-deadline.js';
import { EventSink } from './event-sink.js';
import { type AnswerSink, StreamExchange, wireRequest } from './stream-exchange.js';

const IDLE_MS = 100;
const EVENT_IDLE_MS = 1_000;
const PAUSE_MS = 5_000;
const KEEP_ALIVE_MS = 300;
const COMMENT = ': keep-alive\n\n';
const EVENT = 'event: a\ndata: {}\n\n';

class FakeController implements Dispatcher.DispatchController {
  readonly paused = false;
  reason: Error | null = null;

  get aborted(): boolean {
    return this.reason !== null;
  }

  abort(reason: Error): void {
    this.reason = reason;
  }

  readonly pause = jest.fn();
  readonly resume = jest.fn();
}

/** A provider whose answers the test controls. */
class FakeProvider extends Dispatcher {
  readonly controller = new FakeController();
  #handler: Dispatcher.DispatchHandler | undefined;

  override dispatch(_options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    this.#handler = handler;
    handler.onRequestStart?.(this.controller, undefined);
    return true;
  }

  head(): void {
    this.#handler?.onResponseStart?.(this.controller, 200, {});
  }

  say(text: string): void {
    this.#handler?.onResponseData?.(this.controller, Buffer.from(text));
  }
}

let provider: FakeProvider;
let limits: CallDeadline;

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] });
  provider = new FakeProvider();
  limits = new CallDeadline({ timeoutMs: IDLE_MS, caller: new FakeCaller() }, 'silence');
});
afterEach(() => {
  limits.dispose();
  jest.useRealTimers();
});

/** The progress of a relay. */
function relay(sink: Collector | Valve, eventIdleTimeoutMs?: number): () => unknown {
  const { request } = callTo(new URL('http://provider/'));
  let outcome: unknown = 'open';
  const note = (value: unknown): void => void (outcome = value);
  const onHead = (): AnswerSink =>
    eventIdleTimeoutMs === undefined
      ? { stream: sink, pauseMs: PAUSE_MS }
      : new EventSink(sink, undefined, { pauseMs: PAUSE_MS, idleMs: eventIdleTimeoutMs, keepAliveMs: KEEP_ALIVE_MS });
  const plan = { limits, maxBufferedBytes: 100_000, onHead };
  new StreamExchange(wireRequest(request), plan).run(provider).then(note, note);
  return () => outcome;
}

describe('the silence of a relayed answer', () => {
  it("bounds silence before the head by the call's bound, for events too", async () => {
    const outcome = relay(new Collector(), EVENT_IDLE_MS);
    await jest.advanceTimersByTimeAsync(IDLE_MS);
    expect(outcome()).toMatchObject({ kind: 'timeout', message: `nothing moved for ${IDLE_MS} ms` });
  });

  it("bounds silence after the head by the call's bound when the answer is not a stream of events", async () => {
    const sink = new Collector();
    const outcome = relay(sink);
    provider.head();
    provider.say(EVENT);
    await jest.advanceTimersByTimeAsync(IDLE_MS);
    expect(outcome()).toMatchObject({ kind: 'timeout' });
    expect(sink.destroyed).toBe(true);
  });

  it.each([
    ['its head', () => undefined],
    ['an event', () => provider.say(EVENT)],
  ])('bounds silence in a stream of events separately, after %s', async (_what, begin) => {
    const outcome = relay(new Collector(), EVENT_IDLE_MS);
    provider.head();
    begin();
    await jest.advanceTimersByTimeAsync(EVENT_IDLE_MS - 1);
    expect(outcome()).toBe('open');
    provider.say(EVENT);
    await jest.advanceTimersByTimeAsync(EVENT_IDLE_MS - 1);
    expect(outcome()).toBe('open');
    await jest.advanceTimersByTimeAsync(1);
    expect(outcome()).toMatchObject({ kind: 'timeout', message: `nothing moved for ${EVENT_IDLE_MS} ms` });
    expect(provider.controller.aborted).toBe(true);
  });

  it('applies the bound of events again when the client has read a backlog', async () => {
    const sink = new Valve();
    const outcome = relay(sink, EVENT_IDLE_MS);
    provider.head();
    provider.say(EVENT);
    await jest.advanceTimersByTimeAsync(EVENT_IDLE_MS);
    sink.open();
    await jest.advanceTimersByTimeAsync(EVENT_IDLE_MS - 1);
    expect(outcome()).toBe('open');
    await jest.advanceTimersByTimeAsync(1);
    expect(outcome()).toMatchObject({ kind: 'timeout' });
  });

  it('gives a client that reads nothing the usual bound', async () => {
    const sink = new Valve();
    const outcome = relay(sink, EVENT_IDLE_MS);
    provider.head();
    provider.say(EVENT);
    await jest.advanceTimersByTimeAsync(PAUSE_MS);
    expect(outcome()).toMatchObject({ kind: 'caller_gone' });
    expect(sink.destroyed).toBe(true);
  });

  it('leaves a stream open for a last event when it ends it between two events', async () => {
    const sink = new Collector();
    relay(sink, EVENT_IDLE_MS);
    provider.head();
    provider.say(EVENT);
    await jest.advanceTimersByTimeAsync(EVENT_IDLE_MS);
    expect(sink).toMatchObject({ destroyed: false, writableEnded: false });
  });

  it('breaks a stream that it ends in the middle of an event', async () => {
    const sink = new Collector();
    relay(sink, EVENT_IDLE_MS);
    provider.head();
    provider.say(`${EVENT}event: b\n`);
    await jest.advanceTimersByTimeAsync(EVENT_IDLE_MS);
    expect(sink.destroyed).toBe(true);
  });
});

describe('a comment in a silent stream of events', () => {
  it('comes each time that nothing has come for a while, from the head on', async () => {
    const sink = new Collector();
    relay(sink, EVENT_IDLE_MS);
    provider.head();
    await jest.advanceTimersByTimeAsync(2 * KEEP_ALIVE_MS);
    expect(sink.text).toBe(COMMENT + COMMENT);
    provider.say(EVENT);
    await jest.advanceTimersByTimeAsync(KEEP_ALIVE_MS - 1);
    provider.say(EVENT);
    await jest.advanceTimersByTimeAsync(KEEP_ALIVE_MS - 1);
    expect(sink.text).toBe(COMMENT + COMMENT + EVENT + EVENT);
    await jest.advanceTimersByTimeAsync(1);
    expect(sink.text).toBe(COMMENT + COMMENT + EVENT + EVENT + COMMENT);
  });

  it('never comes within an event', async () => {
    const sink = new Collector();
    relay(sink, EVENT_IDLE_MS);
    provider.head();
    provider.say(EVENT.slice(0, -1));
    await jest.advanceTimersByTimeAsync(2 * KEEP_ALIVE_MS);
    provider.say('\n');
    await jest.advanceTimersByTimeAsync(0);
    expect(sink.text).toBe(EVENT);
  });

  it('does not pile up before a client that reads nothing', async () => {
    const sink = new Valve();
    relay(sink, EVENT_IDLE_MS);
    provider.head();
    provider.say(EVENT);
    await jest.advanceTimersByTimeAsync(5 * KEEP_ALIVE_MS);
    expect(sink.writableLength).toBe(EVENT.length);
  });

  it('leaves no timer behind when the stream is over', async () => {
    const sink = new Collector();
    relay(sink, EVENT_IDLE_MS);
    provider.head();
    sink.destroy();
    await jest.advanceTimersByTimeAsync(0);
    limits.dispose();
    expect(jest.getTimerCount()).toBe(0);
  });
});
