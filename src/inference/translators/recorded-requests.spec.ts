import { describe, expect, it } from '@jest/globals';
import { forEvery } from '../../../test/support/for-every.js';
import { isObject, type JsonObject } from '../../common/json/read.js';
import type { DialectSlug } from '../../upstream/providers/provider.types.js';
import { formsIn } from './__fixtures__/recorded.js';
import { refusalOf, TARGET } from './__fixtures__/translating.js';
import type { TranslatedDialect, Translation, TranslationTarget } from './translator.types.js';
import { translatorFor } from './translators.js';

interface RequestForm {
  /** The client, and what is special about its request. */
  readonly name: string;
  readonly request: JsonObject;
  /** By the name of the translator: the body and what is left out of it, or the refusal. */
  readonly sent: Readonly<Record<string, unknown>>;
}

const CLAUDE = { ...TARGET, pricedModel: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0' };
const TARGETS: Readonly<Partial<Record<TranslatedDialect, TranslationTarget>>> = {
  'openai-chat': TARGET,
  gemini: { ...TARGET, pricedModel: 'gemini-3-pro-preview' },
};
const CALLERS: readonly (readonly [DialectSlug, string, readonly TranslatedDialect[]])[] = [
  ['openai-chat', 'chat-requests.json', ['anthropic-messages', 'bedrock-converse', 'gemini']],
  ['anthropic-messages', 'message-requests.json', ['openai-chat', 'bedrock-converse']],
  ['openai-responses', 'response-requests.json', ['anthropic-messages', 'openai-chat', 'bedrock-converse']],
];
const PAIRS = CALLERS.flatMap(([caller, file, targets]) => targets.map((to) => ({ caller, file, to })));

describe.each(PAIRS)('a request of $caller for a provider that speaks $to', ({ caller, file, to }) => {
  const chosen = translatorFor(caller, (dialect) => dialect === to);
  const target = TARGETS[to] ?? CLAUDE;
  const translated = (request: JsonObject): Pick<Translation, 'body' | 'leftOut'> => {
    if (chosen === undefined) throw new Error('no translator');
    const { body, leftOut } = chosen.translate(request, target);
    return { body, leftOut };
  };
  const forms = formsIn<RequestForm>(file).map((form) => [form.name, form] as const);

  it('is sent or refused as recorded', async () => {
    await forEvery(forms, ({ request, sent }) => {
      expect(refusalOf(() => translated(request))).toEqual(sent[chosen?.name ?? '']);
    });
  });

  it('loses no word in silence', async () => {
    const sent = forms.filter(([, form]) => !isRefused(form.sent[chosen?.name ?? '']));
    await forEvery(sent, ({ request }) => {
      const { body, leftOut } = translated(request);
      const kept = JSON.stringify(body);
      const { tools, ...others } = request;
      const words = wordsIn(callsNone(request) ? others : { ...others, tools });
      const missing = words.filter(([path, word]) => !isIn(kept, word) && !isNamed(path, leftOut));
      expect(missing).toEqual([]);
    });
  });
});

function isRefused(sent: unknown): boolean {
  return isObject(sent) && 'code' in sent;
}

/** Converse takes no tools then. */
function callsNone({ tool_choice: choice }: JsonObject): boolean {
  return choice === 'none' || (isObject(choice) && choice['type'] === 'none');
}

type Word = readonly [path: string, word: string];

/** Texts of a request that a model or a provider could read, with their paths, in which the types of blocks stand too. */
function wordsIn(value: unknown, path = ''): readonly Word[] {
  if (Array.isArray(value)) return value.flatMap((each) => wordsIn(each, path));
  if (isObject(value)) {
    const { type } = value;
    const place = typeof type === 'string' ? `${path}.${type}` : path;
    return Object.entries(value).flatMap(([name, each]) => wordsIn(each, place === '' ? name : `${place}.${name}`));
  }
  const isWord = typeof value === 'string' && value.trim() !== '' && !WRITTEN_OTHERWISE.test(path);
  return isWord && !DEFAULTS.has(value) ? [[path, value]] : [];
}

/** Enumerations, ids and encodings, which have another form in each API, and titles of documents, which Converse restricts. */
const WRITTEN_OTHERWISE =
  /(?:^|\.)(?:type|role|model|id|status|phase|name|mode|media_type|tool_choice|url|image_url|file_data|filename|title|call_id|tool_call_id|tool_use_id|arguments|data|include|prompt_cache_key|service_tier|source\.content\.content\.text\.text)$/;
const DEFAULTS: ReadonlySet<unknown> = new Set(['auto', 'none', 'default']);
/** Members that the answer repeats, or that are named by a newer or former name. */
const ELSEWHERE = /^(?:metadata|safety_identifier)(?:\.|$)/;

function isIn(kept: string, word: string): boolean {
  const written = JSON.stringify(word.trim()).slice(1, -1);
  return kept.includes(written) || kept.includes(JSON.stringify(written).slice(1, -1));
}

function isNamed(path: string, leftOut: readonly string[]): boolean {
  const segments = new Set(path.split('.'));
  return ELSEWHERE.test(path) || leftOut.some((field) => field.split('.').every((each) => segments.has(each)));
}
