import { isObject, type JsonObject } from '../../../common/json/read.js';
import { fittedName } from '../fitted-names.js';
import { LeftOut, listAt, objectAt, present, textAt, untranslatable, wordOf } from '../request-parts.js';
import type { TranslationTarget } from '../translator.types.js';
import { GeminiContents } from './gemini-contents.js';

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
  'seed',
  'presence_penalty',
  'frequency_penalty',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'store',
  'service_tier',
  'modalities',
  'logprobs',
]);
/** Fields whose loss would change the meaning of the request: it is refused instead. */
const NEEDED = ['functions', 'audio', 'web_search_options'] as const;
const OF_TOOL: ReadonlySet<string> = new Set(['type', 'function']);
const OF_FUNCTION: ReadonlySet<string> = new Set(['name', 'description', 'parameters', 'strict']);
const OF_CHOICE: ReadonlySet<string> = new Set(['type', 'function']);
const OF_FORMAT: ReadonlySet<string> = new Set(['type', 'json_schema']);
const OF_SCHEMA: ReadonlySet<string> = new Set(['name', 'schema', 'strict']);
const OF_STREAM: ReadonlySet<string> = new Set(['include_usage', 'include_obfuscation']);
const NAME: ReadonlySet<string> = new Set(['name']);
const MODES: ReadonlyMap<unknown, string> = new Map([
  ['none', 'NONE'],
  ['required', 'ANY'],
]);

export interface GeminiRequest {
  readonly body: JsonObject;
  readonly leftOut: readonly string[];
}

/**
 * Translates a request of OpenAI's Chat Completions API to Gemini's. The body has no model.
 * Sources: https://platform.openai.com/docs/api-reference/chat/create and https://ai.google.dev/api/generate-content,
 * read 2026-11-29.
 */
export function toGeminiRequest(request: JsonObject, { provider, pricedModel }: TranslationTarget): GeminiRequest {
  for (const name of NEEDED) if ((request[name] ?? null) !== null) throw untranslatable(name, name, provider);
  if (typeof request['n'] === 'number' && request['n'] > 1) throw untranslatable('n', 'more than one answer', provider);
  const leftOut = new LeftOut();
  leftOut.addOthers(request, TRANSLATED);
  leftOut.addOthers(request['stream_options'], OF_STREAM, 'stream_options.');
  noteDefaults(request, leftOut);
  const tools = toolsOf(request, leftOut, provider);
  const { stop } = request;
  const stops: unknown = typeof stop === 'string' ? [stop] : stop;
  const generationConfig = present({
    maxOutputTokens: request['max_completion_tokens'] ?? request['max_tokens'],
    temperature: request['temperature'],
    topP: request['top_p'],
    topK: request['top_k'],
    stopSequences: Array.isArray(stops) && stops.length === 0 ? undefined : stops,
    seed: request['seed'],
    presencePenalty: request['presence_penalty'],
    frequencyPenalty: request['frequency_penalty'],
    ...formatOf(request, leftOut),
  });
  const body = {
    ...new GeminiContents(leftOut, provider, pricedModel).members(request['messages']),
    tools: tools === undefined ? undefined : [{ functionDeclarations: tools }],
    toolConfig: tools === undefined ? undefined : choiceOf(request, leftOut, provider),
    generationConfig: Object.keys(generationConfig).length === 0 ? undefined : generationConfig,
  };
  return { body: present(body), leftOut: leftOut.fields };
}

/** Notes fields that are left out, unless their value is the default. */
function noteDefaults(request: JsonObject, leftOut: LeftOut): void {
  const { store, service_tier: tier, logprobs, modalities, parallel_tool_calls: isParallel } = request;
  if (store === true) leftOut.add('store');
  if (logprobs === true) leftOut.add('logprobs');
  if (isParallel === false) leftOut.add('parallel_tool_calls');
  if (typeof tier === 'string' && tier !== 'auto' && tier !== 'default') leftOut.add('service_tier');
  if (Array.isArray(modalities) && modalities.some((each) => each !== 'text')) leftOut.add('modalities');
}

function toolsOf({ tools }: JsonObject, leftOut: LeftOut, provider: string): readonly JsonObject[] | undefined {
  if (tools === undefined || tools === null) return undefined;
  const translated = listAt(tools, 'tools').map((tool, index) => {
    const path = `tools.${index}`;
    const whole = objectAt(tool, path);
    if (whole['type'] !== 'function') throw untranslatable(path, `the tool ${wordOf(whole['type'])}`, provider);
    leftOut.addOthers(whole, OF_TOOL, 'tools.');
    const called = objectAt(whole['function'], `${path}.function`);
    leftOut.addOthers(called, OF_FUNCTION, 'tools.function.');
    if (called['strict'] === true) leftOut.add('tools.strict');
    const { description, parameters: parametersJsonSchema } = called;
    const name = fittedName(textAt(called['name'], `${path}.function.name`));
    return present({ name, description: description || undefined, parametersJsonSchema });
  });
  return translated.length === 0 ? undefined : translated;
}

function choiceOf({ tool_choice: choice }: JsonObject, leftOut: LeftOut, provider: string): JsonObject | undefined {
  if (!isObject(choice)) {
    const mode = MODES.get(choice);
    return mode === undefined ? undefined : { functionCallingConfig: { mode } };
  }
  const { type, function: called } = choice;
  if (type !== 'function') throw untranslatable('tool_choice', `the choice ${wordOf(type)}`, provider);
  leftOut.addOthers(choice, OF_CHOICE, 'tool_choice.');
  leftOut.addOthers(called, NAME, 'tool_choice.function.');
  const name = fittedName(textAt(objectAt(called, 'tool_choice.function')['name'], 'tool_choice.function.name'));
  return { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: [name] } };
}

function formatOf({ response_format: format }: JsonObject, leftOut: LeftOut): JsonObject {
  if (!isObject(format) || format['type'] === 'text') return {};
  const { type, json_schema: given } = format;
  leftOut.addOthers(format, OF_FORMAT, 'response_format.');
  if (type === 'json_object') return { responseMimeType: 'application/json' };
  if (type !== 'json_schema' || !isObject(given)) {
    leftOut.add('response_format');
    return {};
  }
  leftOut.addOthers(given, OF_SCHEMA, 'response_format.json_schema.');
  return { responseMimeType: 'application/json', responseJsonSchema: given['schema'] };
}
