import { isObject, type JsonObject } from '../../../common/json/read.js';
import { isEnforcedByOpenai } from '../answer-schemas.js';
import { fittedName } from '../fitted-names.js';
import { noteMessageFields } from '../message-fields.js';
import { LeftOut, listAt, objectAt, present, textAt, untranslatable, wordOf } from '../request-parts.js';
import type { TranslationTarget } from '../translator.types.js';
import { ChatMessages } from './chat-messages.js';

/** Fields that are translated, or that change nothing when they are left out. */
const TRANSLATED: ReadonlySet<string> = new Set([
  'model',
  'max_tokens',
  'messages',
  'system',
  'stream',
  'temperature',
  'top_p',
  'stop_sequences',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'output_format',
  'service_tier',
]);
/** Fields whose loss would change the meaning of the request: it is refused instead. */
const NEEDED = ['mcp_servers', 'container'] as const;
const NONE: ReadonlySet<string> = new Set();

export interface ChatRequest {
  readonly body: JsonObject;
  readonly leftOut: readonly string[];
}

/**
 * Translates a request of Anthropic's Messages API to OpenAI's Chat Completions API.
 * Sources: https://docs.anthropic.com/en/api/messages and https://platform.openai.com/docs/api-reference/chat/create,
 * read 2026-11-28.
 */
export function toChatRequest(request: JsonObject, target: TranslationTarget): ChatRequest {
  const { provider, refusesMaxTokens } = target;
  for (const name of NEEDED) if ((request[name] ?? null) !== null) throw untranslatable(name, name, provider);
  const leftOut = new LeftOut();
  leftOut.addOthers(request, TRANSLATED);
  noteMessageFields(request, leftOut);
  if (request['service_tier'] === 'standard_only') leftOut.add('service_tier');
  const { thinking } = request;
  // Reasoning models differ in the switch that they accept, and other models refuse it.
  if (isObject(thinking) && thinking['type'] !== 'disabled') leftOut.add('thinking');
  const tools = toolsOf(request, leftOut, provider);
  const body = {
    model: request['model'],
    messages: new ChatMessages(leftOut, target).from(request),
    [refusesMaxTokens ? 'max_completion_tokens' : 'max_tokens']: request['max_tokens'],
    stream: request['stream'],
    temperature: request['temperature'],
    top_p: request['top_p'],
    stop: stopsOf(request),
    tools,
    ...(tools === undefined ? {} : toolChoiceOf(request)),
    ...outputConfigOf(request, leftOut),
  };
  return { body: present(body), leftOut: leftOut.fields };
}

function stopsOf({ stop_sequences: stops }: JsonObject): unknown {
  return Array.isArray(stops) && stops.length === 0 ? undefined : stops;
}

function toolsOf({ tools }: JsonObject, leftOut: LeftOut, provider: string): readonly JsonObject[] | undefined {
  if (tools === undefined || tools === null) return undefined;
  const translated = listAt(tools, 'tools').map((tool, index) => {
    const path = `tools.${index}`;
    const {
      type,
      name,
      description,
      input_schema: parameters,
      strict,
      cache_control: cached,
      ...others
    } = objectAt(tool, path);
    if ((type ?? 'custom') !== 'custom') throw untranslatable(path, `the tool ${wordOf(type)}`, provider);
    if (isObject(cached)) leftOut.add('cache_control');
    leftOut.addOthers(others, NONE, 'tools.');
    const isStrict = strict === true && isEnforcedByOpenai(parameters);
    if (strict === true && !isStrict) leftOut.add('tools.strict');
    const definition = present({
      name: fittedName(textAt(name, `${path}.name`)),
      description,
      parameters,
      strict: isStrict ? strict : undefined,
    });
    return { type: 'function', function: definition };
  });
  return translated.length === 0 ? undefined : translated;
}

function toolChoiceOf({ tool_choice: choice }: JsonObject): JsonObject {
  if (!isObject(choice)) return {};
  const { type, name, disable_parallel_tool_use: isSingle } = choice;
  return {
    tool_choice:
      type === 'tool'
        ? { type: 'function', function: { name: fittedName(textAt(name, 'tool_choice.name')) } }
        : (CHOICES.get(type) ?? 'auto'),
    ...(isSingle === true ? { parallel_tool_calls: false } : {}),
  };
}

const CHOICES: ReadonlyMap<unknown, string> = new Map([
  ['any', 'required'],
  ['none', 'none'],
]);

/** `output_format` is the former name of `output_config.format`. */
function outputConfigOf({ output_config: config, output_format: former }: JsonObject, leftOut: LeftOut): JsonObject {
  const { format = former, ...others } = isObject(config) ? config : {};
  // Claude Code sends an effort for every model, and models without reasoning refuse it.
  leftOut.addOthers(others, NONE, 'output_config.');
  return isObject(format) ? { response_format: responseFormatOf(format, leftOut) } : {};
}

function responseFormatOf({ type, schema, name = 'answer' }: JsonObject, leftOut: LeftOut): JsonObject {
  if (type !== 'json_schema') return { type };
  if (isEnforcedByOpenai(schema)) return { type, json_schema: { name, schema, strict: true } };
  // OpenAI would refuse the schema as strict. The model reads it, and mostly follows it.
  leftOut.add('output_config.format.schema');
  return { type, json_schema: { name, schema } };
}
