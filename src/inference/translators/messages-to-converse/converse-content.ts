import { isObject, type JsonObject, stringOrUndefined } from '../../../common/json/read.js';
import { fittedName } from '../fitted-names.js';
import { noteBlockFields } from '../message-fields.js';
import {
  DONE_BY_PROVIDER,
  type LeftOut,
  listAt,
  noteCitations,
  objectAt,
  textAt,
  untranslatable,
  wordOf,
} from '../request-parts.js';

const IMAGE_FORMAT = /^image\/(png|jpeg|gif|webp)$/;
/** Characters that Converse refuses in the name of a document. */
const NOT_IN_NAME = /[^a-zA-Z0-9 ()[\]-]+/g;
const MAX_NAME = 100;
/** Converse requires a user turn first, and text beside a document. */
const BEGINNING = 'The conversation begins with your answer.';
const SEE_DOCUMENT = 'See the document.';

interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: JsonObject[];
}

interface ContentOptions {
  readonly provider: string;
  readonly leftOut: LeftOut;
  /** Whether the model accepts cache marks. */
  readonly caches: boolean;
}

/** Translates the conversation of a message request to blocks of Converse. */
export class ConverseContent {
  readonly #called = new Set<string>();
  #documents = 0;

  constructor(private readonly options: ContentOptions) {}

  /** The tools that the conversation has called. */
  get calledTools(): readonly string[] {
    return [...this.#called];
  }

  /** The members of a request. Converse requires alternating turns, and instructions in one place. */
  members(system: unknown, messages: unknown): JsonObject {
    const instructions = [...this.#system(system)];
    const turns: Turn[] = [];
    for (const [index, message] of listAt(messages, 'messages').entries()) {
      const path = `messages.${index}`;
      const { role: given, content } = objectAt(message, path);
      if (given !== 'user' && given !== 'assistant' && given !== 'system')
        throw this.#refusal(`${path}.role`, `the role ${wordOf(given)}`);
      const blocks = this.#blocks(content, `${path}.content`);
      const isFirst = !turns.some(({ role }) => role === 'assistant');
      if (given === 'system' && isFirst) {
        instructions.push(...blocks);
        continue;
      }
      const role = given === 'system' ? 'user' : given;
      const last = turns.at(-1);
      if (last?.role === role) last.content.push(...blocks);
      else if (blocks.length > 0) turns.push({ role, content: [...blocks] });
    }
    if (turns.length === 0 && instructions.length > 0) return { messages: [{ role: 'user', content: instructions }] };
    const all = turns[0]?.role === 'assistant' ? [BEGINNING_TURN, ...turns] : turns;
    return {
      messages: all.map(({ role, content }) => ({ role, content: withWords(content) })),
      ...(instructions.length === 0 ? {} : { system: instructions }),
    };
  }

  /** The cache mark, which follows the content to cache. */
  markOf(mark: unknown): readonly JsonObject[] {
    if (!isObject(mark)) return [];
    if (!this.options.caches) {
      this.options.leftOut.add('cache_control');
      return [];
    }
    return [{ cachePoint: { type: 'default', ...(mark['ttl'] === '1h' ? { ttl: '1h' } : {}) } }];
  }

  #system(given: unknown): readonly JsonObject[] {
    if (given === undefined || given === null) return [];
    if (typeof given === 'string') return textBlocks(given);
    return listAt(given, 'system').flatMap((block, index) => {
      const read = objectAt(block, `system.${index}`);
      noteBlockFields(read, 'system.', this.options.leftOut);
      const { type, text, cache_control: mark } = read;
      if (type !== 'text') throw this.#refusal(`system.${index}`, `a block of the type ${wordOf(type)}`);
      return this.#marked(textBlocks(textAt(text, `system.${index}.text`)), mark);
    });
  }

  #marked(blocks: readonly JsonObject[], mark: unknown): readonly JsonObject[] {
    const isMarked = blocks.at(-1)?.['cachePoint'] !== undefined;
    return blocks.length === 0 || isMarked ? blocks : [...blocks, ...this.markOf(mark)];
  }

  #blocks(content: unknown, path: string): readonly JsonObject[] {
    if (typeof content === 'string') return textBlocks(content);
    return listAt(content, path).flatMap((each, index) => {
      const block = objectAt(each, `${path}.${index}`);
      noteBlockFields(block, 'messages.content.', this.options.leftOut);
      return this.#marked(this.#block(block, `${path}.${index}`), block['cache_control']);
    });
  }

  #block(block: JsonObject, path: string): readonly JsonObject[] {
    const { type } = block;
    switch (type) {
      case 'text':
        noteCitations(block['citations'], this.options.leftOut);
        return textBlocks(textAt(block['text'], `${path}.text`));
      case 'image':
        return [this.#image(objectAt(block['source'], `${path}.source`), `${path}.source`)];
      case 'document':
        return [this.#document(block, path)];
      case 'tool_use':
        return [this.#call(block, path)];
      case 'tool_result':
        return this.#result(block, path);
      case 'thinking':
        return this.#thought(block, path);
      case 'redacted_thinking':
        return [{ reasoningContent: { redactedContent: textAt(block['data'], `${path}.data`) } }];
      case 'search_result':
        return textBlocks(this.#searchResult(block, path));
      case 'tool_reference':
        return textBlocks(textAt(block['tool_name'], `${path}.tool_name`));
      default:
        if (typeof type !== 'string' || !DONE_BY_PROVIDER.has(type))
          throw this.#refusal(path, `content of the type ${wordOf(type)}`);
        this.options.leftOut.add(`messages.content.${type}`);
        return [];
    }
  }

  #searchResult({ title, source, content, citations }: JsonObject, path: string): string {
    noteCitations(citations, this.options.leftOut);
    const texts = this.#blocks(content, `${path}.content`).map(({ text }) => text);
    return [title, source, ...texts].filter((text) => typeof text === 'string').join('\n');
  }

  #image({ type, media_type: media, data }: JsonObject, path: string): JsonObject {
    const format = IMAGE_FORMAT.exec(stringOrUndefined(media) ?? '')?.[1];
    if (type !== 'base64' || format === undefined)
      throw this.#refusal(path, 'an image that is not in the body as PNG, JPEG, GIF or WebP');
    return { image: { format, source: { bytes: textAt(data, `${path}.data`) } } };
  }

  #document({ source, title, context, citations }: JsonObject, path: string): JsonObject {
    noteCitations(citations, this.options.leftOut);
    this.#documents += 1;
    const read = this.#documentSource(objectAt(source, `${path}.source`), `${path}.source`);
    const name = `${documentName(title)} ${this.#documents}`;
    return { document: { ...read, name, ...(typeof context === 'string' && context !== '' ? { context } : {}) } };
  }

  #documentSource({ type, media_type: media, data, content }: JsonObject, path: string): JsonObject {
    if (type === 'text') return textDocument(textAt(data, `${path}.data`));
    if (type === 'content') {
      const blocks = this.#blocks(content, `${path}.content`);
      if (blocks.every(({ text }) => typeof text === 'string'))
        return textDocument(blocks.map(({ text }) => text).join('\n\n'));
    }
    if (type !== 'base64' || media !== 'application/pdf')
      throw this.#refusal(path, 'a document that is not in the body as PDF or text');
    return { format: 'pdf', source: { bytes: textAt(data, `${path}.data`) } };
  }

  #call({ id, name, input }: JsonObject, path: string): JsonObject {
    const called = fittedName(textAt(name, `${path}.name`));
    this.#called.add(called);
    return { toolUse: { toolUseId: fittedName(textAt(id, `${path}.id`)), name: called, input: input ?? {} } };
  }

  /** Cache marks follow the result, since Converse allows none within. */
  #result({ tool_use_id: id, content, is_error: isError }: JsonObject, path: string): readonly JsonObject[] {
    const blocks = (content ?? null) === null ? [] : this.#blocks(content, `${path}.content`);
    const said = blocks.filter((block) => block['cachePoint'] === undefined);
    const toolResult = {
      toolUseId: fittedName(textAt(id, `${path}.tool_use_id`)),
      // Converse refuses an empty list and an empty text.
      content: said.length === 0 ? [{ json: {} }] : said,
      ...(isError === true ? { status: 'error' } : {}),
    };
    return [{ toolResult }, ...blocks.filter((block) => block['cachePoint'] !== undefined).slice(-1)];
  }

  /** Reasoning of another model has no signature, and would be refused. */
  #thought({ thinking, signature }: JsonObject, path: string): readonly JsonObject[] {
    if (typeof signature !== 'string' || signature === '') {
      this.options.leftOut.add('messages.content.thinking');
      return [];
    }
    return [{ reasoningContent: { reasoningText: { text: textAt(thinking, `${path}.thinking`), signature } } }];
  }

  #refusal(path: string, what: string): Error {
    return untranslatable(path, what, this.options.provider);
  }
}

const BEGINNING_TURN: Turn = { role: 'user', content: [{ text: BEGINNING }] };

/** Drops texts of white space only, which Converse refuses. */
function textBlocks(text: string): readonly JsonObject[] {
  return text.trim() === '' ? [] : [{ text }];
}

/** Converse refuses a turn that has a document and no text. */
function withWords(content: readonly JsonObject[]): readonly JsonObject[] {
  const hasDocument = content.some(({ document }) => document !== undefined);
  const hasText = content.some(({ text }) => text !== undefined);
  return hasDocument && !hasText ? [...content, { text: SEE_DOCUMENT }] : content;
}

/** A name has single spaces, and none at the end. A number follows, since names must differ. */
function documentName(title: unknown): string {
  const words = (stringOrUndefined(title) ?? '').replaceAll(NOT_IN_NAME, ' ').replaceAll(/ {2,}/g, ' ');
  return words.slice(0, MAX_NAME).trim() || 'document';
}

function textDocument(text: string): JsonObject {
  return { format: 'txt', source: { bytes: Buffer.from(text).toString('base64') } };
}
