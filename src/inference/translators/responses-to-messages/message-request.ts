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
import { LeftOut, listAt, objectAt, present, textAt, untranslatable, wordOf } from '../request-parts.js';
import type { TranslationTarget } from '../translator.types.js';
import { flatName, ResponseTools } from './response-tools.js';

/** Fields that are translated, or that change nothing when they are left out. */
const TRANSLATED: ReadonlySet<string> = new Set([
  'model',
  'input',
  'instructions',
  'max_output_tokens',
  'stream',
  'stream_options',
  'temperature',
  'top_p',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'text',
  'reasoning',
  'metadata',
  'user',
  'safety_identifier',
  'include',
  'prompt_cache_key',
  'store',
  'service_tier',
  'truncation',
  'background',
]);
/** Fields that refer to state which the provider would have to store. */
const KEPT = ['previous_response_id', 'conversation', 'prompt'] as const;
/** Items of an earlier answer that record the provider's own work, or that only this provider can read. */
const OWN_OF_PROVIDER =
  /^(?:web_search_call|file_search_call|image_generation_call|code_interpreter_call|mcp_.+|tool_search_.+)$/;
/** The API requires `max_tokens`. This is its value for a model with an unknown maximum. */
const USUAL_CAP = 32_000;

/** The fields of every item of the input. */
const OF_ITEM = ['type', 'id', 'status'] as const;
/** The fields that are read, by the type of an item. */
const ITEMS: ReadonlyMap<unknown, ReadonlySet<string>> = new Map(
  Object.entries({
    message: ['role', 'content', 'phase'],
    function_call: ['call_id', 'name', 'namespace', 'arguments', 'caller'],
    custom_tool_call: ['call_id', 'name', 'namespace', 'input', 'caller'],
    function_call_output: ['call_id', 'output'],
    custom_tool_call_output: ['call_id', 'output'],
  }).map(([type, fields]) => [type, new Set([...OF_ITEM, ...fields])]),
);
const OF_PART: ReadonlySet<string> = new Set([
  'type',
  'text',
  'refusal',
  'logprobs',
  'detail',
  'image_url',
  'file_id',
  'file_data',
  'file_url',
  'filename',
]);
const OF_STREAM: ReadonlySet<string> = new Set(['include_obfuscation', 'include_usage']);
const OF_FORMAT: ReadonlySet<string> = new Set(['type', 'name', 'description', 'schema', 'strict']);

export interface MessageRequest {
  readonly body: JsonObject;
  readonly leftOut: readonly string[];
  readonly tools: ResponseTools;
}

/**
 * Translates a request of OpenAI's Responses API to Anthropic's Messages API.
 * Sources: https://platform.openai.com/docs/api-reference/responses/create and
 * https://docs.anthropic.com/en/api/messages, read 2026-11-28.
 */
export function toMessageRequest(
  request: JsonObject,
  { provider, pricedModel, maxOutput, reasoningField }: TranslationTarget,
  ids: 'kept' | 'fitted' = 'fitted',
): MessageRequest {
  for (const name of KEPT) if ((request[name] ?? null) !== null) throw untranslatable(name, name, provider);
  if (request['background'] === true) throw untranslatable('background', 'an answer that comes later', provider);
  const leftOut = new LeftOut();
  leftOut.addOthers(request, TRANSLATED);
  leftOut.addOthers(request['stream_options'], OF_STREAM, 'stream_options.');
  noteDefaults(request, leftOut);
  const tools = new ResponseTools(request['tools'], leftOut, { provider, keepsStrict: ids === 'kept' });
  const turns = new MessageTurns(ids);
  if ((request['instructions'] ?? null) !== null)
    turns.instruct([{ type: 'text', text: textAt(request['instructions'], 'instructions') }]);
  new ResponseInput(turns, leftOut, { provider, keepsThoughts: ids === 'kept' && reasoningField !== undefined }).read(
    request['input'],
  );
  const body = {
    model: request['model'],
    ...turns.members(typeof request['prompt_cache_key'] === 'string'),
    max_tokens: request['max_output_tokens'] ?? maxOutput ?? USUAL_CAP,
    stream: request['stream'],
    ...samplingOf(request, pricedModel, leftOut),
    tools: tools.definitions.length === 0 ? undefined : tools.definitions,
    ...tools.choiceOf(request),
    metadata: metadataOf(request),
    ...formatOf(request, leftOut, ids === 'kept'),
  };
  return { body: present(body), leftOut: leftOut.fields, tools };
}

/** Notes fields that are left out, unless their value is the default. */
function noteDefaults(
  { store, service_tier: tier, truncation, reasoning, include }: JsonObject,
  leftOut: LeftOut,
): void {
  if (store === true) leftOut.add('store');
  if (typeof tier === 'string' && tier !== 'auto' && tier !== 'default') leftOut.add('service_tier');
  if (truncation === 'auto') leftOut.add('truncation');
  // Reasoning models differ in the switch that they accept, and other models refuse it.
  if (isObject(reasoning) && Object.values(reasoning).some((value) => value !== null && value !== 'none'))
    leftOut.add('reasoning');
  if (Array.isArray(include) && include.some((each) => each !== 'reasoning.encrypted_content')) leftOut.add('include');
}

function formatOf({ text }: JsonObject, leftOut: LeftOut, isForChat: boolean): JsonObject {
  if (!isObject(text)) return {};
  const { format, ...others } = text;
  leftOut.addOthers(others, new Set(), 'text.');
  if (!isObject(format) || format['type'] === 'text') return {};
  leftOut.addOthers(format, OF_FORMAT, 'text.format.');
  const { type, schema } = format;
  if (type === 'json_schema') {
    const enforced = isForChat ? schema : enforceableSchema(schema, leftOut, 'text.format.schema');
    return { output_config: { format: { type, schema: enforced } } };
  }
  leftOut.add('text.format');
  return {};
}

/** Translates the input items of a response to turns of a conversation. */
class ResponseInput {
  private readonly provider: string;
  private readonly keepsThoughts: boolean;

  constructor(
    private readonly turns: MessageTurns,
    private readonly leftOut: LeftOut,
    { provider, keepsThoughts }: { readonly provider: string; readonly keepsThoughts: boolean },
  ) {
    this.provider = provider;
    this.keepsThoughts = keepsThoughts;
  }

  read(input: unknown): void {
    if (typeof input === 'string') return this.turns.say('user', [{ type: 'text', text: input }]);
    if (!Array.isArray(input)) throw invalidField('input', 'must be a string or a list');
    for (const [index, item] of input.entries()) this.#item(objectAt(item, `input.${index}`), `input.${index}`);
  }

  #item(item: JsonObject, path: string): void {
    const { type = 'message', call_id: id, name, namespace, output } = item;
    this.leftOut.addOthers(item, ITEMS.get(type) ?? new Set(Object.keys(item)), 'input.');
    switch (type) {
      case 'message':
        return this.#message(item, path);
      case 'function_call': {
        const input = inputOf(textAt(item['arguments'], `${path}.arguments`));
        return this.turns.call(textAt(id, `${path}.call_id`), flatName(textAt(name, `${path}.name`), namespace), input);
      }
      case 'custom_tool_call': {
        const input = { input: textAt(item['input'], `${path}.input`) };
        return this.turns.call(textAt(id, `${path}.call_id`), flatName(textAt(name, `${path}.name`), namespace), input);
      }
      case 'function_call_output':
      case 'custom_tool_call_output':
        return this.turns.answer(
          textAt(id, `${path}.call_id`),
          typeof output === 'string' ? output : this.#blocks(output, `${path}.output`),
        );
      case 'reasoning':
        return this.#thought(item);
      default:
        if (typeof type !== 'string' || !OWN_OF_PROVIDER.test(type))
          throw untranslatable(path, `an item of the type ${wordOf(type)}`, this.provider);
        this.leftOut.add(`input.${type}`);
    }
  }

  /**
   * Keeps the plain text of reasoning where the provider accepts it. Encrypted content is readable only by its author.
   */
  #thought({ content, summary }: JsonObject): void {
    const thinking = this.keepsThoughts ? textsIn(content) || textsIn(summary) : '';
    if (thinking === '') this.leftOut.add('input.reasoning');
    else this.turns.say('assistant', [{ type: 'thinking', thinking }]);
  }

  #message({ role, content }: JsonObject, path: string): void {
    const blocks =
      typeof content === 'string' ? [{ type: 'text', text: content }] : this.#blocks(content, `${path}.content`);
    if (role === 'user' || role === 'assistant') return this.turns.say(role, blocks);
    if (role !== 'system' && role !== 'developer')
      throw untranslatable(`${path}.role`, `the role ${wordOf(role)}`, this.provider);
    if (blocks.some(({ type }) => type !== 'text'))
      throw untranslatable(`${path}.content`, 'instructions that are not text', this.provider);
    this.turns.instruct(blocks);
  }

  #blocks(content: unknown, path: string): readonly JsonObject[] {
    return listAt(content, path).map((part, index) =>
      this.#block(objectAt(part, `${path}.${index}`), `${path}.${index}`),
    );
  }

  #block(part: JsonObject, path: string): JsonObject {
    const { type } = part;
    this.leftOut.addOthers(part, OF_PART, 'input.content.');
    switch (type) {
      case 'input_text':
      case 'output_text':
      case 'text':
        return { type: 'text', text: textAt(part['text'], `${path}.text`) };
      case 'refusal':
        return { type: 'text', text: textAt(part['refusal'], `${path}.refusal`) };
      case 'input_image':
        noteDetail(part['detail'], 'input.content.detail', this.leftOut);
        if ((part['image_url'] ?? null) === null) throw untranslatable(path, 'a stored image', this.provider);
        return imageBlock(part['image_url'], `${path}.image_url`);
      case 'input_file':
        return this.#file(part, path);
      default:
        throw untranslatable(path, `content of the type ${wordOf(type)}`, this.provider);
    }
  }

  #file({ file_data: data, file_url: url, filename }: JsonObject, path: string): JsonObject {
    if (typeof url === 'string') return { type: 'document', source: { type: 'url', url } };
    if ((data ?? null) === null) throw untranslatable(path, 'a stored file', this.provider);
    return documentBlock(data, filename, `${path}.file_data`, this.provider);
  }
}

function textsIn(parts: unknown): string {
  const texts = (Array.isArray(parts) ? parts : []).map((part) => (isObject(part) ? part['text'] : undefined));
  return texts.filter((text) => typeof text === 'string').join('\n\n');
}
