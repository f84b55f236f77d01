import { type JsonObject, stringOrUndefined } from '../../../common/json/read.js';
import { invalidField } from '../../../common/errors/gateway.error.js';
import { thoughtSignatureOf } from '../call-signatures.js';
import { fittedName } from '../fitted-names.js';
import { dataIn, inputOf } from '../message-turns.js';
import { type LeftOut, listAt, objectAt, textAt, untranslatable, wordOf } from '../request-parts.js';

/** The fields of reasoning in an earlier answer, by the names of servers and clients. */
const THOUGHTS = ['reasoning_content', 'reasoning', 'reasoning_details', 'thinking_blocks'] as const;
const OF_MESSAGE: ReadonlySet<string> = new Set([
  ...THOUGHTS,
  'role',
  'content',
  'name',
  'refusal',
  'tool_calls',
  'tool_call_id',
]);
const OF_CALL: ReadonlySet<string> = new Set(['id', 'type', 'index', 'function', 'extra_content']);
const OF_PART: ReadonlySet<string> = new Set(['type', 'text', 'refusal', 'image_url', 'file', 'input_audio']);
const OF_CALLED: ReadonlySet<string> = new Set(['name', 'arguments']);
const OF_IMAGE: ReadonlySet<string> = new Set(['url', 'detail']);
const OF_FILE: ReadonlySet<string> = new Set(['filename', 'file_data', 'file_id']);
const OF_SOUND: ReadonlySet<string> = new Set(['data', 'format']);
const SOUNDS: ReadonlyMap<unknown, string> = new Map([
  ['wav', 'audio/wav'],
  ['mp3', 'audio/mp3'],
]);

interface Content {
  readonly role: 'user' | 'model';
  readonly parts: JsonObject[];
  /** The number of tool results at its start. */
  results: number;
}

/** Translates the messages of a chat to Gemini's contents: alternating turns, and separate instructions. */
export class GeminiContents {
  readonly #instructions: JsonObject[] = [];
  readonly #contents: Content[] = [];
  /** The names of called functions by the ids of the calls, since Gemini has no such ids. */
  readonly #names = new Map<string, string>();

  constructor(
    private readonly leftOut: LeftOut,
    private readonly provider: string,
    private readonly model: string,
  ) {}

  members(messages: unknown): JsonObject {
    for (const [index, message] of listAt(messages, 'messages').entries())
      this.#message(objectAt(message, `messages.${index}`), `messages.${index}`);
    // Instructions alone become a user message, since Gemini requires one.
    if (this.#contents.length === 0) this.#say('user', this.#instructions.splice(0));
    return {
      ...(this.#instructions.length === 0 ? {} : { systemInstruction: { parts: this.#instructions } }),
      contents: this.#contents.map(({ role, parts }) => ({ role, parts })),
    };
  }

  #message(message: JsonObject, path: string): void {
    const { role, name } = message;
    this.leftOut.addOthers(message, OF_MESSAGE, 'messages.');
    if ((name ?? null) !== null) this.leftOut.add('messages.name');
    switch (role) {
      case 'system':
      case 'developer':
        return this.#instruct(this.#parts(message['content'], `${path}.content`));
      case 'user':
        return this.#say('user', this.#parts(message['content'], `${path}.content`));
      case 'assistant':
        return this.#answer(message, path);
      case 'tool':
        return this.#result(message, path);
      default:
        throw untranslatable(`${path}.role`, `the role ${wordOf(role)}`, this.provider);
    }
  }

  /** After an answer, instructions become user text, since Gemini takes them only at the beginning. */
  #instruct(parts: readonly JsonObject[]): void {
    if (this.#contents.some(({ role }) => role === 'model')) this.#say('user', parts);
    else this.#instructions.push(...parts);
  }

  #answer(message: JsonObject, path: string): void {
    const { content, refusal, tool_calls: calls } = message;
    for (const name of THOUGHTS) if ((message[name] ?? null) !== null) this.leftOut.add(`messages.${name}`);
    if ((content ?? null) !== null) this.#say('model', this.#parts(content, `${path}.content`));
    if (typeof refusal === 'string') this.#say('model', textParts(refusal));
    if ((calls ?? null) === null) return;
    for (const [index, call] of listAt(calls, `${path}.tool_calls`).entries())
      this.#say('model', [
        this.#call(objectAt(call, `${path}.tool_calls.${index}`), `${path}.tool_calls.${index}`, index),
      ]);
  }

  #call(call: JsonObject, path: string, index: number): JsonObject {
    const { type = 'function', function: called } = call;
    if (type !== 'function') throw untranslatable(path, `a call of the type ${wordOf(type)}`, this.provider);
    this.leftOut.addOthers(call, OF_CALL, 'messages.tool_calls.');
    this.leftOut.addOthers(called, OF_CALLED, 'messages.tool_calls.function.');
    const { name, arguments: json } = objectAt(called, `${path}.function`);
    const id = textAt(call['id'], `${path}.id`);
    const own = fittedName(textAt(name, `${path}.function.name`));
    this.#names.set(id, own);
    const thoughtSignature = thoughtSignatureOf(id, call, this.model, index === 0);
    return {
      functionCall: { name: own, args: inputOf(textAt(json, `${path}.function.arguments`)) },
      ...(thoughtSignature === undefined ? {} : { thoughtSignature }),
    };
  }

  /** Results come first in their turn, since they must follow the calls. */
  #result({ tool_call_id: id, content }: JsonObject, path: string): void {
    const name = this.#names.get(textAt(id, `${path}.tool_call_id`));
    if (name === undefined) throw invalidField(`${path}.tool_call_id`, 'must be the id of an earlier call');
    const parts = this.#parts(content, `${path}.content`);
    const output = parts.map(({ text }) => stringOrUndefined(text) ?? '').join('\n');
    const turn = this.#turnOf('user');
    turn.parts.splice(turn.results, 0, { functionResponse: { name, response: { output } } });
    turn.results += 1;
    turn.parts.push(...parts.filter(({ text }) => text === undefined));
  }

  #parts(content: unknown, path: string): readonly JsonObject[] {
    if (typeof content === 'string') return textParts(content);
    if (!Array.isArray(content)) throw invalidField(path, 'must be a string or a list');
    return content.flatMap((each, index) => this.#part(objectAt(each, `${path}.${index}`), `${path}.${index}`));
  }

  #part(part: JsonObject, path: string): readonly JsonObject[] {
    const { type, image_url: image, file, input_audio: sound } = part;
    this.leftOut.addOthers(part, OF_PART, 'messages.content.');
    this.leftOut.addOthers(image, OF_IMAGE, 'messages.content.image_url.');
    this.leftOut.addOthers(file, OF_FILE, 'messages.content.file.');
    this.leftOut.addOthers(sound, OF_SOUND, 'messages.content.input_audio.');
    switch (type) {
      case 'text':
        return textParts(textAt(part['text'], `${path}.text`));
      case 'refusal':
        return textParts(textAt(part['refusal'], `${path}.refusal`));
      case 'image_url': {
        const { url, detail } = objectAt(image, `${path}.image_url`);
        if (typeof detail === 'string' && detail !== 'auto') this.leftOut.add('messages.content.image_url.detail');
        return [this.#data(textAt(url, `${path}.image_url.url`), `${path}.image_url`)];
      }
      case 'file': {
        const { file_data: data } = objectAt(file, `${path}.file`);
        if ((data ?? null) === null) throw untranslatable(path, 'a stored file', this.provider);
        return [this.#data(textAt(data, `${path}.file.file_data`), `${path}.file`)];
      }
      case 'input_audio': {
        const { data, format } = objectAt(sound, `${path}.input_audio`);
        const mimeType = SOUNDS.get(format);
        if (mimeType === undefined) throw untranslatable(path, `sound of the format ${wordOf(format)}`, this.provider);
        return [{ inlineData: { mimeType, data: textAt(data, `${path}.input_audio.data`) } }];
      }
      default:
        throw untranslatable(path, `content of the type ${wordOf(type)}`, this.provider);
    }
  }

  #data(url: string, path: string): JsonObject {
    const { media_type: mimeType, data } = dataIn(url);
    if (data === undefined) throw untranslatable(path, 'content at another address', this.provider);
    return { inlineData: { mimeType, data } };
  }

  #say(role: Content['role'], parts: readonly JsonObject[]): void {
    if (parts.length > 0) this.#turnOf(role).parts.push(...parts);
  }

  #turnOf(role: Content['role']): Content {
    const last = this.#contents.at(-1);
    if (last?.role === role) return last;
    const content: Content = { role, parts: [], results: 0 };
    this.#contents.push(content);
    return content;
  }
}

/** Gemini refuses an empty part. */
function textParts(text: string): readonly JsonObject[] {
  return text === '' ? [] : [{ text }];
}
