import { isObject, type JsonObject, stringOrUndefined } from '../../../common/json/read.js';
import { type LeftOut, listAt, objectAt, textAt, untranslatable, wordOf } from '../request-parts.js';

const IMAGE_FORMAT = /^image\/(png|jpeg|gif|webp)$/;
/** What Converse allows in the name of a document. */
const NOT_IN_NAME = /[^a-zA-Z0-9 ()[\]-]+/g;
const MAX_NAME = 100;

interface ContentOptions {
  readonly provider: string;
  readonly leftOut: LeftOut;
  /** Whether the model takes marks of its cache. */
  readonly caches: boolean;
}

/** The conversation of a message request, in the blocks of Converse. */
export class ConverseContent {
  readonly #called = new Set<string>();
  #documents = 0;

  constructor(private readonly options: ContentOptions) {}

  /** The tools that the conversation has called. */
  get calledTools(): readonly string[] {
    return [...this.#called];
  }

  /** The members of a request. Converse wants turns that alternate, and instructions in one place. */
  members(system: unknown, messages: unknown): JsonObject {
    const instructions = [...this.#system(system)];
    const turns: { readonly role: string; readonly content: JsonObject[] }[] = [];
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
    return { messages: turns, ...(instructions.length === 0 ? {} : { system: instructions }) };
  }

  /** The mark of a cache, behind what is to be kept. */
  markOf(mark: unknown): readonly JsonObject[] {
    if (!this.options.caches || !isObject(mark)) return [];
    return [{ cachePoint: { type: 'default', ...(mark['ttl'] === '1h' ? { ttl: '1h' } : {}) } }];
  }

  #system(given: unknown): readonly JsonObject[] {
    if (given === undefined || given === null) return [];
    if (typeof given === 'string') return textBlocks(given);
    return listAt(given, 'system').flatMap((block, index) => {
      const { type, text, cache_control: mark } = objectAt(block, `system.${index}`);
      if (type !== 'text') throw this.#refusal(`system.${index}`, `a block of the type ${wordOf(type)}`);
      return this.#marked(textBlocks(textAt(text, `system.${index}.text`)), mark);
    });
  }

  #marked(blocks: readonly JsonObject[], mark: unknown): readonly JsonObject[] {
    return blocks.length === 0 ? [] : [...blocks, ...this.markOf(mark)];
  }

  #blocks(content: unknown, path: string): readonly JsonObject[] {
    if (typeof content === 'string') return textBlocks(content);
    return listAt(content, path).flatMap((each, index) => {
      const block = objectAt(each, `${path}.${index}`);
      return this.#marked(this.#block(block, `${path}.${index}`), block['cache_control']);
    });
  }

  #block(block: JsonObject, path: string): readonly JsonObject[] {
    const { type } = block;
    switch (type) {
      case 'text':
        return textBlocks(textAt(block['text'], `${path}.text`));
      case 'image':
        return [this.#image(objectAt(block['source'], `${path}.source`), `${path}.source`)];
      case 'document':
        return [this.#document(block, path)];
      case 'tool_use':
        return [this.#call(block, path)];
      case 'tool_result':
        return [this.#result(block, path)];
      case 'thinking':
        return this.#thought(block, path);
      case 'redacted_thinking':
        return [{ reasoningContent: { redactedContent: textAt(block['data'], `${path}.data`) } }];
      default:
        throw this.#refusal(path, `content of the type ${wordOf(type)}`);
    }
  }

  #image({ type, media_type: media, data }: JsonObject, path: string): JsonObject {
    const format = IMAGE_FORMAT.exec(stringOrUndefined(media) ?? '')?.[1];
    if (type !== 'base64' || format === undefined)
      throw this.#refusal(path, 'an image that is not in the body as PNG, JPEG, GIF or WebP');
    return { image: { format, source: { bytes: textAt(data, `${path}.data`) } } };
  }

  #document({ source, title }: JsonObject, path: string): JsonObject {
    const { type, media_type: media, data } = objectAt(source, `${path}.source`);
    this.#documents += 1;
    // Names have to differ.
    const given = (stringOrUndefined(title) ?? 'document').replaceAll(NOT_IN_NAME, ' ').replaceAll(/ {2,}/g, ' ');
    const name = `${given.slice(0, MAX_NAME)} ${this.#documents}`;
    const text = `${path}.source.data`;
    if (type === 'text') {
      const bytes = Buffer.from(textAt(data, text)).toString('base64');
      return { document: { format: 'txt', name, source: { bytes } } };
    }
    if (type !== 'base64' || media !== 'application/pdf')
      throw this.#refusal(`${path}.source`, 'a document that is not in the body as PDF or text');
    return { document: { format: 'pdf', name, source: { bytes: textAt(data, text) } } };
  }

  #call({ id, name, input }: JsonObject, path: string): JsonObject {
    const called = textAt(name, `${path}.name`);
    this.#called.add(called);
    return { toolUse: { toolUseId: textAt(id, `${path}.id`), name: called, input: input ?? {} } };
  }

  #result({ tool_use_id: id, content, is_error: isError }: JsonObject, path: string): JsonObject {
    const blocks = (content ?? null) === null ? [] : this.#blocks(content, `${path}.content`);
    // A list without items is refused, and so is an empty text.
    const said = blocks.length === 0 ? [{ json: {} }] : blocks.filter((block) => block['cachePoint'] === undefined);
    const status = isError === true ? { status: 'error' } : {};
    return { toolResult: { toolUseId: textAt(id, `${path}.tool_use_id`), content: said, ...status } };
  }

  /** What another model thought has no signature, and would be refused. */
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

/** Empty texts are refused, and say nothing. */
function textBlocks(text: string): readonly JsonObject[] {
  return text === '' ? [] : [{ text }];
}
