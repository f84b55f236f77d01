import type { JsonObject } from '../../common/json/read.js';
import { argumentsIn } from './exact-arguments.js';
import { type LeftOut, textAt, untranslatable } from './request-parts.js';

/** Characters that Anthropic refuses in the id of a call. */
const NOT_IN_ID = /[^a-zA-Z0-9_-]/g;
const DATA_URL = 'data:';
/** The longest head of a data URL: a media type, and parameters such as a charset. */
const MAX_HEAD = 256;
const BASE64_HEAD = /^([^;,]+)(?:;[^;,]+){0,8};base64$/i;
/** An invalid media type that clients send for JPEG, and that no provider of messages accepts. */
const NO_JPEG = /^image\/jpg$/;
/** Separates texts that are joined to one. */
const GAP = '\n\n';

interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: JsonObject[];
  /** The number of tool results at its start. */
  results: number;
}

/** Collects the conversation of a message request from parts in the order of another API. */
export class MessageTurns {
  readonly #instructions: JsonObject[] = [];
  readonly #turns: Turn[] = [];

  /** @param ids whether the ids of calls are kept, or fitted to the characters that Anthropic allows */
  constructor(private readonly ids: 'kept' | 'fitted') {}

  /** Instructions after an answer become a user message, since messages take them only at the beginning. */
  instruct(blocks: readonly JsonObject[]): void {
    if (this.#turns.some(({ role }) => role === 'assistant')) this.say('user', blocks);
    else this.#instructions.push(...blocks.filter(hasWords));
  }

  say(role: Turn['role'], blocks: readonly JsonObject[]): void {
    const content = blocks.filter(hasWords);
    if (content.length > 0) this.#turnOf(role).content.push(...content);
  }

  call(id: string, name: string, input: JsonObject): void {
    this.#turnOf('assistant').content.push({ type: 'tool_use', id: this.#idOf(id), name, input });
  }

  /** Results come first in their turn, since they must follow the calls. */
  answer(id: string, said: readonly JsonObject[] | string, mark: JsonObject = {}): void {
    const turn = this.#turnOf('user');
    const blocks = typeof said === 'string' ? said : said.filter(hasWords);
    const content = blocks.length === 0 ? '' : blocks;
    turn.content.splice(turn.results, 0, { type: 'tool_result', tool_use_id: this.#idOf(id), content, ...mark });
    turn.results += 1;
  }

  /**
   * The members of a request. Instructions alone become a user message, since one is required.
   * @param caches whether to ask the provider to cache the conversation so far, unless a block asks for it
   */
  members(caches: boolean): JsonObject {
    if (this.#turns.length === 0) this.say('user', this.#instructions.splice(0));
    const isMarked = [this.#instructions, ...this.#turns.map(({ content }) => content)].flat().some(hasMark);
    const marks = caches && !isMarked;
    const lastTurn = this.#turns.at(-1);
    const last = lastTurn?.content.at(-1);
    if (lastTurn !== undefined && last !== undefined) {
      const ended = lastTurn.role === 'assistant' ? withoutSpaceAtEnd(last) : last;
      lastTurn.content.splice(-1, 1, marks ? { ...ended, ...CACHE } : ended);
    }
    return {
      ...this.#system(marks),
      messages: this.#turns.map(({ role, content }) => ({ role, content: plainIfText(content) })),
    };
  }

  #system(marks: boolean): JsonObject {
    if (this.#instructions.length === 0) return {};
    if (this.#instructions.some(hasMark)) return { system: this.#instructions };
    const text = this.#instructions.map((block) => block['text']).join(GAP);
    return { system: marks ? [{ type: 'text', text, ...CACHE }] : text };
  }

  #idOf(id: string): string {
    return this.ids === 'kept' ? id : id.replace(NOT_IN_ID, '_');
  }

  #turnOf(role: Turn['role']): Turn {
    const last = this.#turns.at(-1);
    if (last?.role === role) return last;
    const turn: Turn = { role, content: [], results: 0 };
    this.#turns.push(turn);
    return turn;
  }
}

/** The API refuses texts of white space only. */
function hasWords({ text }: JsonObject): boolean {
  return typeof text !== 'string' || text.trim() !== '';
}

function hasMark({ cache_control: mark }: JsonObject): boolean {
  return mark !== undefined;
}

const CACHE = { cache_control: { type: 'ephemeral' } } as const;

/** An image block from a URL or a data URL. */
export function imageBlock(url: unknown, path: string): JsonObject {
  const text = textAt(url, path);
  const { media_type, data } = dataIn(text);
  const source = data === undefined ? { type: 'url', url: text } : { type: 'base64', media_type, data };
  return { type: 'image', source };
}

/** The media type and the data of a base64 data URL; empty for other URLs. */
export function dataIn(url: string): { readonly media_type?: string; readonly data?: string } {
  const end = url.startsWith(DATA_URL) ? url.slice(0, MAX_HEAD).indexOf(',') : -1;
  const type = end < 0 ? undefined : BASE64_HEAD.exec(url.slice(DATA_URL.length, end))?.[1]?.toLowerCase();
  return type === undefined ? {} : { media_type: NO_JPEG.test(type) ? 'image/jpeg' : type, data: url.slice(end + 1) };
}

/** Notes an image's `detail`, which has no equivalent: the provider decides. */
export function noteDetail(detail: unknown, field: string, leftOut: LeftOut): void {
  if (typeof detail === 'string' && detail !== 'auto') leftOut.add(field);
}

/** A document block from an inline file: a PDF or plain text. Throws for other types. */
export function documentBlock(data: unknown, filename: unknown, path: string, provider: string): JsonObject {
  const { media_type, data: base64 } = dataIn(textAt(data, path));
  const title = typeof filename === 'string' && filename !== '' ? { title: filename } : {};
  if (base64 !== undefined && media_type === 'text/plain')
    return {
      type: 'document',
      source: { type: 'text', media_type, data: Buffer.from(base64, 'base64').toString() },
      ...title,
    };
  if (base64 === undefined || media_type !== 'application/pdf')
    throw untranslatable(path, 'a file that is not a PDF', provider);
  return { type: 'document', source: { type: 'base64', media_type, data: base64 }, ...title };
}

/** The arguments of an earlier call. Text that is not a JSON object was cut off, and is kept as text. */
export function inputOf(given: string): JsonObject {
  if (given.trim() === '') return {};
  return argumentsIn(given) ?? { arguments: given };
}

/** Trims the given beginning of an answer, since the API refuses one that ends in white space. */
function withoutSpaceAtEnd(block: JsonObject): JsonObject {
  const { text } = block;
  return typeof text === 'string' ? { ...block, text: text.trimEnd() } : block;
}

function plainIfText(content: readonly JsonObject[]): unknown {
  const [only] = content;
  const isPlain = content.length === 1 && only?.['type'] === 'text' && only['cache_control'] === undefined;
  return isPlain ? only['text'] : content;
}

/** Newer models of Anthropic take a temperature or `top_p`, not both. */
const TAKES_ONE = /claude-[a-z]+-(?:4-[1-9](?!\d)|[5-9])/;

/** Anthropic's temperature has a maximum of 1, OpenAI's one of 2. */
export function samplingOf({ temperature, top_p }: JsonObject, model: string, leftOut: LeftOut): JsonObject {
  const isTooHigh = typeof temperature === 'number' && temperature > 1;
  if (isTooHigh) leftOut.add('temperature');
  const isOneTooMany = (temperature ?? null) !== null && (top_p ?? null) !== null && TAKES_ONE.test(model);
  // 1 is the default of `top_p`.
  if (isOneTooMany && top_p !== 1) leftOut.add('top_p');
  return { temperature: isTooHigh ? 1 : temperature, top_p: isOneTooMany ? undefined : top_p };
}

/** The `metadata` of a message request, from the user in a request of OpenAI's API. */
export function metadataOf({ safety_identifier: identifier, user }: JsonObject): JsonObject | undefined {
  const user_id = identifier ?? user;
  return typeof user_id === 'string' ? { user_id } : undefined;
}
