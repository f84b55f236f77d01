import { GatewayError } from '../../common/errors/gateway.error.js';
import type { JsonObject } from '../../common/json/read.js';
import type { STREAM_END, StreamTranslation, Translator } from './translator.types.js';

/** The output cap of messages, which is mandatory there. */
const CAP = 'max_tokens';

/**
 * Chains two translators through messages, which can express everything that the last dialect can.
 * @param caps the members of a request that hold its output cap. Without one, the last dialect gets none either.
 */
export function throughMessages(
  name: string,
  first: Translator,
  second: Translator,
  caps: readonly string[],
): Translator {
  const { to, callersNames: ofSecond } = second;
  const namedByFirst = (field: string): string => {
    const [head = field, ...rest] = field.split('.');
    return first.callersNames[field] ?? [first.callersNames[head] ?? head, ...rest].join('.');
  };
  const renamed = Object.entries(ofSecond).map(([field, known]) => [field, namedByFirst(known)] as const);
  return {
    name,
    to,
    callersNames: { ...first.callersNames, ...Object.fromEntries(renamed) },
    translate(request, target) {
      const one = first.translate(request, target);
      const isCapped = caps.some((cap) => (request[cap] ?? null) !== null);
      const message = isCapped ? one.body : { ...one.body, [CAP]: undefined };
      const two = inCallersWords(namedByFirst, () => second.translate(message, { ...target, takesThoughts: true }));
      return {
        body: two.body,
        leftOut: [...new Set([...one.leftOut, ...two.leftOut.map(namedByFirst)])],
        toAnswer: (answer) => one.toAnswer(two.toAnswer(answer)),
        newStream: () => new TwoStreams(two.newStream(), one.newStream()),
      };
    },
  };
}

/** Chains two translations: the second translates the events of the first. */
export class TwoStreams implements StreamTranslation {
  constructor(
    private readonly first: StreamTranslation,
    private readonly second: StreamTranslation,
  ) {}

  push(event: JsonObject | typeof STREAM_END): readonly JsonObject[] {
    return this.first.push(event).flatMap((made) => this.second.push(made));
  }

  end(): readonly JsonObject[] {
    const last = this.first.end().flatMap((made) => this.second.push(made));
    return [...last, ...this.second.end()];
  }
}

/**
 * Runs `work`, and names the caller's field in its `unsupported_parameter`. Places within the translated conversation
 * mean nothing to the caller.
 */
export function inCallersWords<Result>(nameOf: (field: string) => string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'unsupported_parameter') throw error;
    const { param } = error;
    if (param === null) throw error;
    const [head = param] = param.split('.');
    const own = nameOf(head);
    const message = error.message.replace(param, own);
    throw new GatewayError('unsupported_parameter', { message, details: [{ param: own, message }] });
  }
}
