import { stringifyLongNumbers } from '../../../common/json/numbers.js';
import type { JsonObject } from '../../../common/json/read.js';
import { plainId, signatureOf } from '../call-signatures.js';
import { fittedName } from '../fitted-names.js';
import { noteBlockFields } from '../message-fields.js';
import {
  type LeftOut,
  DONE_BY_PROVIDER,
  listAt,
  noteCitations,
  objectAt,
  textAt,
  untranslatable,
  wordOf,
} from '../request-parts.js';
import type { TranslationTarget } from '../translator.types.js';

/** Blocks of an assistant's turn that only the provider which wrote them can read. */
const OWN_OF_PROVIDER: ReadonlySet<string> = new Set(['thinking', 'redacted_thinking', ...DONE_BY_PROVIDER]);
/** Servers that know this field may refuse an assistant's message without it. */
const DEMANDED = 'reasoning_content';
const REST_FOLLOWS = 'The images and files of this result follow in the next message.';
/** Separates blocks of text that are joined to one string. */
const GAP = '\n\n';

/** The chat messages of a user's turn. */
interface UserTurn {
  readonly results: readonly JsonObject[];
  readonly rest: readonly JsonObject[];
}

/** Translates the conversation of a message request to the messages of a chat. */
export class ChatMessages {
  private readonly provider: string;
  private readonly reasoningField: TranslationTarget['reasoningField'];
  private readonly model: string;

  constructor(
    private readonly leftOut: LeftOut,
    { provider, reasoningField, pricedModel }: Pick<TranslationTarget, 'provider' | 'reasoningField' | 'pricedModel'>,
  ) {
    this.provider = provider;
    this.reasoningField = reasoningField;
    this.model = pricedModel;
  }

  from({ system, messages }: JsonObject): readonly JsonObject[] {
    const instructions = system === undefined || system === null ? [] : [this.#textOf(system, 'system')];
    const translated: JsonObject[] = [];
    let hasAnswers = false;
    // The position after the latest calls. Results of one answer may be in several messages, and must follow each
    // other.
    let results = 0;
    for (const [index, message] of listAt(messages, 'messages').entries()) {
      const path = `messages.${index}`;
      const { role, content } = objectAt(message, path);
      hasAnswers ||= role === 'assistant';
      if (role === 'user') {
        const said = this.#ofUser(content, `${path}.content`);
        translated.splice(results, 0, ...said.results);
        results += said.results.length;
        translated.push(...said.rest);
      } else if (role === 'assistant') {
        translated.push(...this.#ofAssistant(content, `${path}.content`));
        results = translated.length;
      } else if (role !== 'system') throw untranslatable(`${path}.role`, `the role ${wordOf(role)}`, this.provider);
      // Many models accept instructions only at the beginning.
      else if (hasAnswers) translated.push({ role: 'user', content: this.#textOf(content, `${path}.content`) });
      else instructions.push(this.#textOf(content, `${path}.content`));
    }
    // A chat cannot continue a given beginning of the answer: the model may start again.
    if (translated.at(-1)?.['role'] === 'assistant') this.leftOut.add('messages.prefill');
    const told = instructions.filter((text) => text !== '');
    return told.length === 0 ? translated : [{ role: 'system', content: told.join(GAP) }, ...translated];
  }

  /** Tool results become messages of their own. They come first, since they must follow the calls. */
  #ofUser(content: unknown, path: string): UserTurn {
    if (typeof content === 'string') return { results: [], rest: [{ role: 'user', content }] };
    const results: JsonObject[] = [];
    const parts: JsonObject[] = [];
    for (const [index, block] of this.#blocks(content, path)) {
      const at = `${path}.${index}`;
      if (block['type'] !== 'tool_result') {
        parts.push(...this.#partsOf(block, at));
        continue;
      }
      const { text, images } = this.#resultOf(block, at);
      const id = plainId(textAt(block['tool_use_id'], `${at}.tool_use_id`));
      results.push({ role: 'tool', tool_call_id: id, content: text });
      parts.push(...images);
    }
    return { results, rest: parts.length === 0 ? [] : [{ role: 'user', content: plainIfText(parts) }] };
  }

  #resultOf({ content, is_error: isError }: JsonObject, path: string): { text: string; images: readonly JsonObject[] } {
    const parts = this.#resultParts(content, `${path}.content`);
    const images = parts.filter(({ type }) => type !== 'text');
    const texts = parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : []));
    const text = texts.length === 0 && images.length > 0 ? REST_FOLLOWS : texts.join('\n');
    // A chat cannot mark a result as an error in another way.
    return { text: isError === true && !/^error/i.test(text) ? `Error: ${text}` : text, images };
  }

  #resultParts(content: unknown, path: string): readonly JsonObject[] {
    if (content === undefined || content === null) return [];
    if (typeof content === 'string') return [{ type: 'text', text: content }];
    return this.#blocks(content, path).flatMap(([index, block]) => this.#partsOf(block, `${path}.${index}`));
  }

  #ofAssistant(content: unknown, path: string): readonly JsonObject[] {
    if (typeof content === 'string') return [{ role: 'assistant', content, ...this.#thought('') }];
    const texts: string[] = [];
    const thoughts: string[] = [];
    const calls: JsonObject[] = [];
    for (const [index, block] of this.#blocks(content, path)) {
      const at = `${path}.${index}`;
      const { type, text, id, name, input = {}, citations } = block;
      noteCitations(citations, this.leftOut);
      if (type === 'text') texts.push(textAt(text, `${at}.text`));
      else if (type === 'thinking' && this.reasoningField !== undefined)
        thoughts.push(textAt(block['thinking'], `${at}.thinking`));
      else if (type === 'tool_use') {
        const own = textAt(id, `${at}.id`);
        const signature = signatureOf(own, this.model, calls.length === 0);
        calls.push({ ...callOf(plainId(own), textAt(name, `${at}.name`), input), ...signature });
      } else if (typeof type === 'string' && OWN_OF_PROVIDER.has(type)) this.leftOut.add(`messages.content.${type}`);
      else throw untranslatable(at, `content of the type ${wordOf(type)}`, this.provider);
    }
    if (texts.length === 0 && calls.length === 0) return [];
    const said = {
      role: 'assistant',
      content: texts.length === 0 ? null : texts.join(''),
      ...this.#thought(thoughts.join('')),
    };
    return [calls.length === 0 ? said : { ...said, tool_calls: calls }];
  }

  /** Earlier reasoning, or a space when it is unknown: DeepSeek and Kimi refuse an empty text. */
  #thought(text: string): JsonObject {
    const { reasoningField: field } = this;
    if (field === undefined || (text === '' && field !== DEMANDED)) return {};
    return { [field]: text === '' ? ' ' : text };
  }

  #partsOf(block: JsonObject, path: string): readonly JsonObject[] {
    const { type } = block;
    switch (type) {
      case 'text':
        return [{ type: 'text', text: textAt(block['text'], `${path}.text`) }];
      case 'image':
        return [{ type: 'image_url', image_url: { url: this.#imageUrl(block['source'], `${path}.source`) } }];
      case 'document':
        return this.#documentParts(block, path);
      case 'search_result':
        return [{ type: 'text', text: this.#searchResult(block, path) }];
      case 'tool_reference':
        return [{ type: 'text', text: textAt(block['tool_name'], `${path}.tool_name`) }];
      default:
        throw untranslatable(path, `content of the type ${wordOf(type)}`, this.provider);
    }
  }

  #imageUrl(source: unknown, path: string): string {
    const { type, media_type: mediaType, data, url } = objectAt(source, path);
    if (type === 'base64')
      return `data:${textAt(mediaType, `${path}.media_type`)};base64,${textAt(data, `${path}.data`)}`;
    if (type === 'url') return textAt(url, `${path}.url`);
    throw untranslatable(path, `an image of the type ${wordOf(type)}`, this.provider);
  }

  #documentParts({ source, title, context, citations }: JsonObject, path: string): readonly JsonObject[] {
    noteCitations(citations, this.leftOut);
    const from = objectAt(source, `${path}.source`);
    const { type, data, content } = from;
    const given = [title, context].filter((text) => typeof text === 'string' && text !== '');
    const head = given.map((text) => ({ type: 'text', text }));
    if (type === 'text') return [...head, { type: 'text', text: textAt(data, `${path}.source.data`) }];
    if (type === 'content') return [...head, ...this.#resultParts(content, `${path}.source.content`)];
    if (type !== 'base64')
      throw untranslatable(`${path}.source`, `a document of the type ${wordOf(type)}`, this.provider);
    const mediaType = textAt(from['media_type'], `${path}.source.media_type`);
    const file_data = `data:${mediaType};base64,${textAt(data, `${path}.source.data`)}`;
    const filename = typeof title === 'string' && title !== '' ? title : 'document.pdf';
    return [...head, { type: 'file', file: { filename, file_data } }];
  }

  #searchResult({ title, source, content, citations }: JsonObject, path: string): string {
    noteCitations(citations, this.leftOut);
    const parts = this.#resultParts(content, `${path}.content`).map(({ text }) => text);
    return [title, source, ...parts].filter((text) => typeof text === 'string').join('\n');
  }

  #textOf(content: unknown, path: string): string {
    if (typeof content === 'string') return content;
    return this.#blocks(content, path)
      .map(([index, { type, text }]) => {
        if (type !== 'text')
          throw untranslatable(`${path}.${index}`, `content of the type ${wordOf(type)}`, this.provider);
        return textAt(text, `${path}.${index}.text`);
      })
      .join(GAP);
  }

  #blocks(content: unknown, path: string): readonly (readonly [number, JsonObject])[] {
    return listAt(content, path).map((block, index) => {
      const found = objectAt(block, `${path}.${index}`);
      if ((found['cache_control'] ?? null) !== null) this.leftOut.add('cache_control');
      noteBlockFields(found, path.startsWith('system') ? 'system.' : 'messages.content.', this.leftOut);
      return [index, found] as const;
    });
  }
}

function callOf(id: string, name: string, input: unknown): JsonObject {
  return { id, type: 'function', function: { name: fittedName(name), arguments: stringifyLongNumbers(input) } };
}

/** Servers of text-only models refuse a list of parts. */
function plainIfText(parts: readonly JsonObject[]): unknown {
  const texts = parts.flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : []));
  return texts.length === parts.length ? texts.join(GAP) : parts;
}
