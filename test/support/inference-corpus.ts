// The forms of `test/inference-corpus`: requests of clients and answers of providers, as raw text. See the README there.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '../../src/common/json/read.js';
import { QUANTITY_UNITS, type QuantitiesJson, type QuantityUnit } from '../../src/usage/units.js';

const FOLDER = 'test/inference-corpus';

export const CORPUS_DIALECTS = [
  'chat',
  'completions',
  'responses',
  'compact',
  'input_tokens',
  'messages',
  'count_tokens',
  'embeddings',
] as const;
export type CorpusDialect = (typeof CORPUS_DIALECTS)[number];

/** One request of a client, and one answer of a provider. */
export interface CorpusForm {
  /** The file and the title. */
  readonly name: string;
  readonly dialect: CorpusDialect;
  /** The provider of its virtual key. */
  readonly provider: string;
  readonly request: Buffer;
  /** The request as the provider must get it. */
  readonly forwarded: Buffer;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly answer: Buffer;
  /** The answer as the client must get it. */
  readonly received: Buffer;
  readonly isStream: boolean;
  /** Figures of the ledger, none for an error; undefined: the answer has none, and they are computed. */
  readonly usage: QuantitiesJson | undefined;
  /** The mode in which the call was served. */
  readonly mode: string;
}

/** A form as it is written. */
interface Written {
  readonly attributes: ReadonlyMap<string, string>;
  readonly headers: Readonly<Record<string, string>>;
  readonly sections: ReadonlyMap<string, string>;
}

interface Defaults {
  readonly request: string;
  readonly answer: string;
  readonly usage: string;
}

const TEXT = '"messages":[{"role":"user","content":"Name a river."}]';
const CHAT_ANSWER =
  '{"id":"chatcmpl-1","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Loire"},' +
  '"finish_reason":"stop"}],"usage":{"prompt_tokens":11,"completion_tokens":3,"total_tokens":14}}';

/** For forms in which only the request, or only the answer, is special. */
const DEFAULTS: Readonly<Record<CorpusDialect, Defaults>> = {
  chat: {
    request: `{"model":"m","max_tokens":4000,${TEXT}}`,
    answer: CHAT_ANSWER,
    usage: 'input=11 output=3',
  },
  completions: {
    request: '{"model":"m","max_tokens":4000,"prompt":"Once"}',
    answer:
      '{"object":"text_completion","choices":[{"index":0,"text":" more","finish_reason":"stop"}],"usage":{"prompt_tokens":2,"completion_tokens":1,"total_tokens":3}}',
    usage: 'input=2 output=1',
  },
  responses: {
    request: '{"model":"m","max_output_tokens":4000,"input":"Name a river."}',
    answer:
      '{"id":"resp_1","object":"response","status":"completed","output":[{"type":"message","id":"msg_1","role":"assistant",' +
      '"content":[{"type":"output_text","text":"Loire","annotations":[]}]}],"usage":{"input_tokens":11,"output_tokens":3,"total_tokens":14}}',
    usage: 'input=11 output=3',
  },
  compact: {
    request: '{"model":"m","input":"Name a river."}',
    answer:
      '{"id":"resp_1","object":"response.compaction","output":[],"usage":{"input_tokens":11,"output_tokens":3,"total_tokens":14}}',
    usage: 'input=11 output=3',
  },
  input_tokens: {
    request: '{"model":"m","input":"Name a river."}',
    answer: '{"object":"response.input_tokens","input_tokens":11}',
    usage: '',
  },
  messages: {
    request: `{"model":"m","max_tokens":4000,${TEXT}}`,
    answer:
      '{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"Loire"}],' +
      '"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":11,"output_tokens":3}}',
    usage: 'input=11 output=3',
  },
  count_tokens: { request: `{"model":"m",${TEXT}}`, answer: '{"input_tokens":11}', usage: '' },
  embeddings: {
    request: '{"model":"m","input":"Name a river."}',
    answer:
      '{"object":"list","model":"m","data":[{"object":"embedding","index":0,"embedding":[0.25,-0.5]}],"usage":{"prompt_tokens":4,"total_tokens":4}}',
    usage: 'input=4',
  },
};

const ASKS_FOR_USAGE = /"include_usage"\s*:\s*true/;
const ASKING = '{"stream_options":{"include_usage":true},';
const EVENTS = 'text/event-stream';
const LINE_ENDS: Readonly<Record<string, string>> = { lf: '\n', crlf: '\r\n', cr: '\r' };

export function readCorpus(): readonly CorpusForm[] {
  const families = readdirSync(FOLDER).filter((name) => name.endsWith('.txt'));
  return families.toSorted().flatMap((family) => readFamily(family, readFileSync(join(FOLDER, family), 'utf8')));
}

/** @throws Error for a text that does not follow the README of the corpus */
export function readFamily(family: string, text: string): readonly CorpusForm[] {
  const [head = '', ...parts] = text.split(/^=== /m);
  const common = attributesOf(head.split('\n').filter((line) => !line.startsWith('#')));
  return parts.map((part) => {
    const end = part.indexOf('\n');
    const name = `${family.replace('.txt', '')}: ${part.slice(0, end)}`;
    const [attributes = '', ...sections] = part.slice(end + 1).split(/^--- /m);
    const own = attributesOf(attributes.split('\n'));
    return toForm(name, {
      attributes: new Map([...common.attributes, ...own.attributes]),
      headers: { ...common.headers, ...own.headers },
      sections: new Map(sections.map(sectionOf)),
    });
  });
}

function attributesOf(lines: readonly string[]): Pick<Written, 'attributes' | 'headers'> {
  const attributes = new Map<string, string>();
  const headers: Record<string, string> = {};
  for (const line of lines.filter((each) => each !== '')) {
    const [, name, value] = /^([a-z-]+): (.*)$/.exec(line) ?? [];
    if (name === undefined || value === undefined) throw new Error(`not an attribute: ${line}`);
    const [, header, content] = name === 'header' ? (/^([a-z-]+): (.*)$/.exec(value) ?? []) : [];
    if (header !== undefined && content !== undefined) headers[header] = content;
    else attributes.set(name, value);
  }
  return { attributes, headers };
}

/** Without the lines at its end that are empty. */
function sectionOf(text: string): readonly [string, string] {
  const end = text.indexOf('\n');
  return [text.slice(0, end), text.slice(end + 1).replace(/\n+$/, '')];
}

function toForm(name: string, { attributes, headers, sections }: Written): CorpusForm {
  const dialect = CORPUS_DIALECTS.find((each) => each === attributes.get('dialect'));
  if (dialect === undefined) throw new Error(`${name}: no dialect`);
  const provider =
    attributes.get('provider') ??
    (dialect === 'messages' || dialect === 'count_tokens' ? 'anthropic' : 'openai-compatible');
  const defaults = DEFAULTS[dialect];
  const request =
    (sections.get('request') ?? defaultRequest(defaults, attributes.get('stream'))) +
    end(attributes, 'request-end', '');
  const status = Number(attributes.get('status') ?? 200);
  const isStream = attributes.get('type') === undefined && isStreamed(request) && status === 200;
  const type = attributes.get('type') ?? (isStream ? EVENTS : 'application/json');
  const isEvents = type.startsWith(EVENTS);
  const framed = (text: string): string => inLines(text, attributes.get('lines'));
  const written = sections.get('answer') ?? defaults.answer;
  const answer = framed(written + end(attributes, 'answer-end', isEvents ? '\n\n' : ''));
  const withheld = sections.get('withheld');
  return {
    name,
    dialect,
    provider,
    request: Buffer.from(request),
    forwarded: Buffer.from(sections.get('forwarded') ?? forwardedOf(request, dialect, provider)),
    status,
    headers: { 'content-type': type, ...headers },
    answer: Buffer.from(answer),
    received: Buffer.from(withheld === undefined ? answer : without(name, answer, framed(`${withheld}\n\n`))),
    isStream: isEvents,
    mode: attributes.get('mode') ?? 'standard',
    usage: usageOf(name, attributes.get('usage') ?? (sections.has('answer') ? '' : defaults.usage)),
  };
}

/** @param stream `yes`, or `asked`: with its usage */
function defaultRequest({ request }: Defaults, stream: string | undefined): string {
  if (stream === undefined) return request;
  const options = stream === 'asked' ? ',"stream_options":{"include_usage":true}' : '';
  return `${request.slice(0, -1)},"stream":true${options}}`;
}

function end(attributes: ReadonlyMap<string, string>, name: string, common: string): string {
  const written = attributes.get(name);
  return written === undefined ? common : String(JSON.parse(written));
}

function inLines(text: string, name = 'lf'): string {
  const lineEnd = LINE_ENDS[name];
  if (lineEnd === undefined) throw new Error(`unknown lines: ${name}`);
  return lineEnd === '\n' ? text : text.replaceAll('\n', lineEnd);
}

/** The gateway asks for the usage of a stream of these dialects where the client does not. */
function forwardedOf(request: string, dialect: CorpusDialect, provider: string): string {
  const mayAsk = (dialect === 'chat' || dialect === 'completions') && provider !== 'mistral';
  return mayAsk && isStreamed(request) && !ASKS_FOR_USAGE.test(request) ? request.replace('{', ASKING) : request;
}

function isStreamed(request: string): boolean {
  const body: unknown = JSON.parse(request);
  return isObject(body) && body['stream'] === true;
}

function without(name: string, answer: string, withheld: string): string {
  const parts = answer.split(withheld);
  if (parts.length !== 2) throw new Error(`${name}: the event that is withheld is not there once`);
  return parts.join('');
}

/** `unknown`, `none`, or figures by unit: `input=9 output=5`. */
function usageOf(name: string, text: string): QuantitiesJson | undefined {
  if (text === 'unknown') return undefined;
  const figures: Partial<Record<QuantityUnit, number>> = {};
  if (text === 'none') return figures;
  for (const word of text.split(' ').filter((each) => each !== '')) {
    const [given, figure] = word.split('=');
    const unit = QUANTITY_UNITS.find((each) => each === given);
    if (unit === undefined) throw new Error(`${name}: unknown unit ${word}`);
    figures[unit] = Number(figure);
  }
  return figures;
}
