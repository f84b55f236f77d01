import { isObject, type JsonObject, parseForeignJson } from '../../common/json/read.js';
import { textAt, untranslatable } from './request-parts.js';

/** What Anthropic allows in the id of a call. */
const NOT_IN_ID = /[^a-zA-Z0-9_-]/g;
const DATA_URL = /^data:([^;,]+);base64,(.*)$/s;
/** Between texts that become one. */
const GAP = '\n\n';

interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: JsonObject[];
  /** How many results of tools it begins with. */
  results: number;
}

/** Collects the conversation of a message request from parts in the order of another API. */
export class MessageTurns {
  readonly #instructions: string[] = [];
  readonly #turns: Turn[] = [];

  /** @param ids of calls: `kept`, or as Anthropic allows them */
  constructor(private readonly ids: 'kept' | 'fitted') {}

  /** Instructions after an answer become a message of the user: there is one place for them, at the beginning. */
  instruct(text: string): void {
    if (this.#turns.some(({ role }) => role === 'assistant')) this.say('user', [{ type: 'text', text }]);
    else if (text.trim() !== '') this.#instructions.push(text);
  }

  /** Texts without a word are refused by the API, and say nothing. */
  say(role: Turn['role'], blocks: readonly JsonObject[]): void {
    const content = blocks.filter(({ text }) => typeof text !== 'string' || text.trim() !== '');
    if (content.length > 0) this.#turnOf(role).content.push(...content);
  }

  call(id: string, name: string, input: JsonObject): void {
    this.#turnOf('assistant').content.push({ type: 'tool_use', id: this.#idOf(id), name, input });
  }

  /** Results come first in their turn: they have to follow the calls. */
  answer(id: string, content: readonly JsonObject[] | string): void {
    const turn = this.#turnOf('user');
    turn.content.splice(turn.results, 0, { type: 'tool_result', tool_use_id: this.#idOf(id), content });
    turn.results += 1;
  }

  /** @param caches whether the provider is asked to keep the conversation so far for the next call */
  members(caches: boolean): JsonObject {
    const system = this.#instructions.join(GAP);
    const lastTurn = this.#turns.at(-1);
    const last = lastTurn?.content.at(-1);
    if (lastTurn !== undefined && last !== undefined) {
      const ended = lastTurn.role === 'assistant' ? withoutSpaceAtEnd(last) : last;
      lastTurn.content.splice(-1, 1, caches ? { ...ended, ...CACHE } : ended);
    }
    return {
      ...(system === '' ? {} : { system: caches ? [{ type: 'text', text: system, ...CACHE }] : system }),
      messages: this.#turns.map(({ role, content }) => ({ role, content: plainIfText(content) })),
    };
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

const CACHE = { cache_control: { type: 'ephemeral' } } as const;

/** An address of an image, which may hold its data. */
export function imageBlock(url: unknown, path: string): JsonObject {
  const text = textAt(url, path);
  const [, media_type, data] = DATA_URL.exec(text) ?? [];
  const source = data === undefined ? { type: 'url', url: text } : { type: 'base64', media_type, data };
  return { type: 'image', source };
}

/** A file in the body: PDF data, or text. */
export function documentBlock(data: unknown, filename: unknown, path: string, provider: string): JsonObject {
  const [, media_type, base64] = DATA_URL.exec(textAt(data, path)) ?? [];
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

/** The arguments of a call in the history. What is not an object was cut off, and goes on as a text. */
export function inputOf(given: string): JsonObject {
  if (given.trim() === '') return {};
  const input = parseForeignJson(given);
  return isObject(input) ? input : { arguments: given };
}

/** The beginning of an answer, which the model goes on with: the API refuses one that ends in a space. */
function withoutSpaceAtEnd(block: JsonObject): JsonObject {
  const { text } = block;
  return typeof text === 'string' ? { ...block, text: text.trimEnd() } : block;
}

function plainIfText(content: readonly JsonObject[]): unknown {
  const [only] = content;
  const isPlain = content.length === 1 && only?.['type'] === 'text' && only['cache_control'] === undefined;
  return isPlain ? only['text'] : content;
}
