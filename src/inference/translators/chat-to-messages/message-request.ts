import { invalidField } from '../../../common/errors/gateway.error.js';
import { isObject, type JsonObject } from '../../../common/json/read.js';
import { enforceableSchema } from '../answer-schemas.js';
import {
  documentBlock,
  imageBlock,
  inputOf,
  MessageTurns,
  metadataOf,
  noteDetail,
  samplingOf,
} from '../message-turns.js';
import { inputSchema, LeftOut, listAt, objectAt, present, textAt, untranslatable, wordOf } from '../request-parts.js';
import type { TranslationTarget } from '../translator.types.js';

/** Fields that are translated, or that change nothing when they are left out. */
const TRANSLATED: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'max_tokens',
  'max_completion_tokens',
  'stream',
  'stream_options',
  'temperature',
  'top_p',
  'top_k',
  'stop',
  'n',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'store',
  'service_tier',
  'modalities',
  'logprobs',
  'presence_penalty',
  'frequency_penalty',
]);
/** Fields whose loss would change the meaning of the request: it is refused instead. */
const NEEDED = ['functions', 'audio', 'web_search_options'] as const;
/** The API requires `max_tokens`. This is its value for a model with an unknown maximum. */
const USUAL_CAP = 32_000;
/** The fields of reasoning in an earlier answer, by the names of servers and clients. */
const THOUGHTS = ['reasoning_content', 'reasoning', 'reasoning_details', 'thinking_blocks'] as const;

const OF_MESSAGE: ReadonlySet<string> = new Set([
  'role',
  'content',
  'name',
  'refusal',
  'tool_calls',
  'tool_call_id',
  'audio',
  'cache_control',
  ...THOUGHTS,
]);
const OF_PART: ReadonlySet<string> = new Set(['type', 'text', 'refusal', 'image_url', 'file', 'cache_control']);
const OF_IMAGE: ReadonlySet<string> = new Set(['url', 'detail']);
const OF_FILE: ReadonlySet<string> = new Set(['filename', 'file_data', 'file_id']);
const OF_CALL: ReadonlySet<string> = new Set(['id', 'type', 'index', 'function']);
const OF_CALLED: ReadonlySet<string> = new Set(['name', 'arguments']);
const OF_TOOL: ReadonlySet<string> = new Set(['type', 'function', 'cache_control']);
const OF_FUNCTION: ReadonlySet<string> = new Set(['name', 'description', 'parameters', 'strict', 'cache_control']);
const OF_CHOICE: ReadonlySet<string> = new Set(['type', 'function']);
const OF_FORMAT: ReadonlySet<string> = new Set(['type', 'json_schema']);
const OF_SCHEMA: ReadonlySet<string> = new Set(['name', 'description', 'schema', 'strict']);
const OF_STREAM: ReadonlySet<string> = new Set(['include_usage', 'include_obfuscation']);
const NAME: ReadonlySet<string> = new Set(['name']);

export interface MessageRequest {
  readonly body: JsonObject;
  readonly leftOut: readonly string[];
}

/**
 * Translates a request of OpenAI's Chat Completions API to Anthropic's Messages API.
 * Sources: https://platform.openai.com/docs/api-reference/chat/create and https://docs.anthropic.com/en/api/messages,
 * read 2026-11-28.
 */
export function toMessageRequest(
  request: JsonObject,
  { provider, pricedModel, maxOutput }: TranslationTarget,
): MessageRequest {
  for (const name of NEEDED) if ((request[name] ?? null) !== null) throw untranslatable(name, name, provider);
  if (typeof request['n'] === 'number' && request['n'] > 1) throw untranslatable('n', 'more than one answer', provider);
  const leftOut = new LeftOut();
  leftOut.addOthers(request, TRANSLATED);
  leftOut.addOthers(request['stream_options'], OF_STREAM, 'stream_options.');
  noteDefaults(request, leftOut);
  const tools = toolsOf(request, leftOut, provider);
  const turns = new MessageTurns('fitted');
  new ChatInput(turns, leftOut, provider).read(request['messages']);
  const body = {
    model: request['model'],
    ...turns.members(typeof request['prompt_cache_key'] === 'string'),
    max_tokens: request['max_completion_tokens'] ?? request['max_tokens'] ?? maxOutput ?? USUAL_CAP,
    stream: request['stream'],
    ...samplingOf(request, pricedModel, leftOut),
    top_k: request['top_k'],
    stop_sequences: stopsOf(request, leftOut),
    tools,
    tool_choice: tools === undefined ? undefined : choiceOf(request, leftOut, provider),
    metadata: metadataOf(request),
    ...formatOf(request, leftOut),
  };
  return { body: present(body), leftOut: leftOut.fields };
}

/** Notes fields that are left out, unless their value is the default. */
function noteDefaults(request: JsonObject, leftOut: LeftOut): void {
  const { store, service_tier: tier, logprobs, modalities } = request;
  if (store === true) leftOut.add('store');
  if (logprobs === true) leftOut.add('logprobs');
  if (typeof tier === 'string' && tier !== 'auto' && tier !== 'default') leftOut.add('service_tier');
  if (Array.isArray(modalities) && modalities.some((each) => each !== 'text')) leftOut.add('modalities');
  for (const name of ['presence_penalty', 'frequency_penalty']) if (request[name]) leftOut.add(name);
}

/** Drops stop sequences of white space only, which the provider refuses. */
function stopsOf({ stop }: JsonObject, leftOut: LeftOut): unknown {
  const given: unknown = typeof stop === 'string' ? [stop] : stop;
  if (!Array.isArray(given)) return given;
  const stops = given.filter((each) => typeof each !== 'string' || each.trim() !== '');
  if (stops.length < given.length) leftOut.add('stop');
  return stops.length === 0 ? undefined : stops;
}

function toolsOf({ tools }: JsonObject, leftOut: LeftOut, provider: string): readonly JsonObject[] | undefined {
  if (tools === undefined || tools === null) return undefined;
  const translated = listAt(tools, 'tools').map((tool, index) => {
    const path = `tools.${index}`;
    const whole = objectAt(tool, path);
    const { type, function: called, cache_control: mark } = whole;
    if (type !== 'function') throw untranslatable(path, `the tool ${wordOf(type)}`, provider);
    leftOut.addOthers(whole, OF_TOOL, 'tools.');
    leftOut.addOthers(called, OF_FUNCTION, 'tools.function.');
    const { name, description, parameters, strict, cache_control = mark } = objectAt(called, `${path}.function`);
    if (strict === true) leftOut.add('tools.strict');
    const input_schema = inputSchema(parameters);
    return present({ name: textAt(name, `${path}.function.name`), description, input_schema, cache_control });
  });
  return translated.length === 0 ? undefined : translated;
}

function choiceOf(
  { tool_choice: choice, parallel_tool_calls: isParallel }: JsonObject,
  leftOut: LeftOut,
  provider: string,
): JsonObject | undefined {
  if (choice === 'none') return { type: 'none' };
  const single = isParallel === false ? { disable_parallel_tool_use: true } : {};
  if (choice === 'required') return { type: 'any', ...single };
  if (!isObject(choice)) return isParallel === false ? { type: 'auto', ...single } : undefined;
  const { type, function: called } = choice;
  if (type !== 'function') throw untranslatable('tool_choice', `the choice ${wordOf(type)}`, provider);
  leftOut.addOthers(choice, OF_CHOICE, 'tool_choice.');
  leftOut.addOthers(called, NAME, 'tool_choice.function.');
  const { name } = objectAt(called, 'tool_choice.function');
  return { type: 'tool', name: textAt(name, 'tool_choice.function.name'), ...single };
}

function formatOf({ response_format: format }: JsonObject, leftOut: LeftOut): JsonObject {
  if (!isObject(format) || format['type'] === 'text') return {};
  const { type, json_schema: given } = format;
  leftOut.addOthers(format, OF_FORMAT, 'response_format.');
  if (type === 'json_schema' && isObject(given)) {
    leftOut.addOthers(given, OF_SCHEMA, 'response_format.json_schema.');
    const schema = enforceableSchema(given['schema'], leftOut, 'response_format.json_schema.schema');
    return { output_config: { format: { type, schema } } };
  }
  leftOut.add('response_format');
  return {};
}

/** Translates the messages of a chat to turns of a conversation. */
class ChatInput {
  constructor(
    private readonly turns: MessageTurns,
    private readonly leftOut: LeftOut,
    private readonly provider: string,
  ) {}

  read(messages: unknown): void {
    for (const [index, message] of listAt(messages, 'messages').entries())
      this.#message(objectAt(message, `messages.${index}`), `messages.${index}`);
  }

  #message(message: JsonObject, path: string): void {
    const { role, name } = message;
    this.leftOut.addOthers(message, OF_MESSAGE, 'messages.');
    if ((name ?? null) !== null) this.leftOut.add('messages.name');
    switch (role) {
      case 'system':
      case 'developer':
        return this.#instruct(message, path);
      case 'user':
        return this.turns.say('user', this.#content(message, path));
      case 'assistant':
        return this.#answer(message, path);
      case 'tool':
        return this.#result(message, path);
      default:
        throw untranslatable(`${path}.role`, `the role ${wordOf(role)}`, this.provider);
    }
  }

  #instruct(message: JsonObject, path: string): void {
    const blocks = this.#content(message, path);
    if (blocks.some(({ type }) => type !== 'text'))
      throw untranslatable(`${path}.content`, 'instructions that are not text', this.provider);
    this.turns.instruct(blocks);
  }

  /** Clients that know Anthropic set `cache_control` on a part, or on its message. */
  #content({ content, cache_control }: JsonObject, path: string): readonly JsonObject[] {
    const blocks = this.#blocks(content, `${path}.content`);
    const last = blocks.at(-1);
    return last === undefined || !isObject(cache_control)
      ? blocks
      : [...blocks.slice(0, -1), { ...last, cache_control }];
  }

  #answer(message: JsonObject, path: string): void {
    const { content, refusal, tool_calls: calls, audio } = message;
    if ((audio ?? null) !== null) throw untranslatable(`${path}.audio`, 'an earlier sound', this.provider);
    for (const name of THOUGHTS) if ((message[name] ?? null) !== null) this.leftOut.add(`messages.${name}`);
    if ((content ?? null) !== null) this.turns.say('assistant', this.#content(message, path));
    if (typeof refusal === 'string') this.turns.say('assistant', [{ type: 'text', text: refusal }]);
    if (calls === undefined || calls === null) return;
    for (const [index, call] of listAt(calls, `${path}.tool_calls`).entries()) {
      const at = `${path}.tool_calls.${index}`;
      const whole = objectAt(call, at);
      const { id, type = 'function', function: called } = whole;
      this.leftOut.addOthers(whole, OF_CALL, 'messages.tool_calls.');
      this.leftOut.addOthers(called, OF_CALLED, 'messages.tool_calls.function.');
      if (type !== 'function') throw untranslatable(at, `a call of the type ${wordOf(type)}`, this.provider);
      const { name, arguments: json } = objectAt(called, `${at}.function`);
      const input = inputOf(textAt(json, `${at}.function.arguments`));
      this.turns.call(textAt(id, `${at}.id`), textAt(name, `${at}.function.name`), input);
    }
  }

  #result({ tool_call_id: id, content, cache_control }: JsonObject, path: string): void {
    const said = typeof content === 'string' ? content : this.#blocks(content, `${path}.content`);
    this.turns.answer(textAt(id, `${path}.tool_call_id`), said, isObject(cache_control) ? { cache_control } : {});
  }

  #blocks(content: unknown, path: string): readonly JsonObject[] {
    if (typeof content === 'string') return [{ type: 'text', text: content }];
    if (!Array.isArray(content)) throw invalidField(path, 'must be a string or a list');
    return listAt(content, path).map((each, index) => {
      const part = objectAt(each, `${path}.${index}`);
      const { cache_control, image_url: image, file } = part;
      this.leftOut.addOthers(part, OF_PART, 'messages.content.');
      this.leftOut.addOthers(image, OF_IMAGE, 'messages.content.image_url.');
      this.leftOut.addOthers(file, OF_FILE, 'messages.content.file.');
      return { ...this.#block(part, `${path}.${index}`), ...(isObject(cache_control) ? { cache_control } : {}) };
    });
  }

  #block(part: JsonObject, path: string): JsonObject {
    const { type } = part;
    switch (type) {
      case 'text':
        return { type: 'text', text: textAt(part['text'], `${path}.text`) };
      case 'refusal':
        return { type: 'text', text: textAt(part['refusal'], `${path}.refusal`) };
      case 'image_url':
        return this.#image(objectAt(part['image_url'], `${path}.image_url`), `${path}.image_url`);
      case 'file':
        return this.#file(objectAt(part['file'], `${path}.file`), `${path}.file`);
      default:
        throw untranslatable(path, `content of the type ${wordOf(type)}`, this.provider);
    }
  }

  #image({ url, detail }: JsonObject, path: string): JsonObject {
    noteDetail(detail, 'messages.content.image_url.detail', this.leftOut);
    return imageBlock(url, `${path}.url`);
  }

  #file({ file_data: data, filename }: JsonObject, path: string): JsonObject {
    if ((data ?? null) === null) throw untranslatable(path, 'a stored file', this.provider);
    return documentBlock(data, filename, `${path}.file_data`, this.provider);
  }
}
