import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { isObject } from '../../common/json/read.js';
import type { DialectSlug } from '../../upstream/providers/provider.types.js';
import { forEvery } from '../../../test/support/for-every.js';
import { type AnswerForm, formsIn, type Said, type StreamForm, streamText } from './__fixtures__/recorded.js';
import { CHAT_SDK, MESSAGE_SDK, RESPONSE_SDK, type SdkReader } from './__fixtures__/sdk-readers.js';
import { cutAt, TARGET, translatedBytes } from './__fixtures__/translating.js';
import type { Translation, TranslatedDialect } from './translator.types.js';
import { eventFormOf, translatorFor } from './translators.js';

const RECORDED: Readonly<Partial<Record<TranslatedDialect, string>>> = {
  'openai-chat': 'chat',
  'anthropic-messages': 'message',
  'bedrock-converse': 'converse',
  gemini: 'gemini',
};
const SDKS: readonly (readonly [DialectSlug, SdkReader])[] = [
  ['openai-chat', CHAT_SDK],
  ['anthropic-messages', MESSAGE_SDK],
  ['openai-responses', RESPONSE_SDK],
];
const PAIRS = Object.entries(RECORDED).flatMap(([to, file]) =>
  SDKS.filter(([caller]) => translatorFor(caller, (dialect) => dialect === to) !== undefined).map(([caller, sdk]) => ({
    caller,
    to,
    file,
    sdk,
  })),
);
/** Every cut of a longer stream would take seconds. */
const SHORT = 500;

describe.each(PAIRS)('an answer for $caller of a provider that speaks $to', ({ caller, to, file, sdk }) => {
  const chosen = translatorFor(caller, (dialect) => dialect === to);
  const translation = (): Translation => {
    if (chosen === undefined) throw new Error('no translator');
    return chosen.translate(sdk.request, TARGET);
  };
  const bytesOf = (chunks: readonly Buffer[]): string => translatedBytes(translation(), chunks, eventFormOf(caller));
  const streams = formsIn<StreamForm>(`${file}-streams.json`).map((form) => [form.name, form] as const);
  const answers = formsIn<AnswerForm>(`${file}-answers.json`).map((form) => [form.name, form] as const);

  it('that streams is read by the SDK with every word, call and figure', async () => {
    await forEvery(streams, async (form) => {
      const { said, error } = form;
      const made = (): string => bytesOf([Buffer.from(streamText(form))]);
      if (said === undefined) expect(codeOf(made)).toBe(error);
      else expect(await sdk.stream(made())).toEqual(said);
    });
  });

  it('that streams is the same however its bytes are cut', async () => {
    await forEvery(streams, (form) => {
      const text = streamText(form);
      const bytes = Buffer.from(text);
      const whole = resultOf(() => bytesOf([bytes]));
      const each = bytes.length > SHORT ? [] : [...bytes].map((byte) => Buffer.from([byte]));
      if (each.length > 0) expect(resultOf(() => bytesOf(each))).toBe(whole);
      const cuts = fc.array(fc.nat(), { maxLength: 40 });
      fc.assert(
        fc.property(cuts, (places) => resultOf(() => bytesOf(cutAt(text, places))) === whole),
        { numRuns: 5 },
      );
    });
  });

  it('that comes whole is read by the SDK with every word, call and figure', async () => {
    await forEvery(answers, async ({ answer, said, error }) => {
      if (said === undefined) expect(codeOf(() => translation().toAnswer(answer))).toBe(error);
      else expect(parsed(await sdk.whole(translation().toAnswer(answer)))).toEqual(parsed(said));
    });
  });
});

/** Whole answers may write arguments in another way. */
function parsed({ calls, ...said }: Said): unknown {
  return { ...said, calls: calls.map(([id, name, json]) => [id, name, JSON.parse(json)]) };
}

/** The bytes, or the code of the failure. */
function resultOf(work: () => string): string {
  try {
    return work();
  } catch (error) {
    return codeIn(error);
  }
}

function codeOf(work: () => unknown): string {
  try {
    return JSON.stringify(work());
  } catch (error) {
    return codeIn(error);
  }
}

function codeIn(error: unknown): string {
  for (const each of [error, isObject(error) ? error['cause'] : undefined])
    if (each instanceof GatewayError) return each.code;
  throw error;
}
