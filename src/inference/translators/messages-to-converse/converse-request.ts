import { stringifyLongNumbers } from '../../../common/json/numbers.js';
import { isObject, type JsonObject } from '../../../common/json/read.js';
import { noteMessageFields } from '../message-fields.js';
import { LeftOut, present, untranslatable } from '../request-parts.js';
import type { TranslationTarget } from '../translator.types.js';
import { ConverseContent } from './converse-content.js';
import { toolsOf } from './converse-tools.js';

/** Fields that are translated, or that change nothing when they are left out. */
const TRANSLATED: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'system',
  'max_tokens',
  'stream',
  'temperature',
  'top_p',
  'top_k',
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
/** Claude's models accept fields and cache marks of Anthropic's API. */
const CLAUDE = /(?:^|[./])anthropic\./;

export interface ConverseRequest {
  readonly body: JsonObject;
  readonly leftOut: readonly string[];
}

/**
 * Translates a request of Anthropic's Messages API to Bedrock's Converse. The body has no model.
 * Sources: https://docs.anthropic.com/en/api/messages and the API reference of Converse, read 2026-11-28.
 */
export function toConverseRequest(request: JsonObject, target: TranslationTarget): ConverseRequest {
  const { provider, pricedModel } = target;
  for (const name of NEEDED) if ((request[name] ?? null) !== null) throw untranslatable(name, name, provider);
  const isClaude = CLAUDE.test(pricedModel.toLowerCase());
  const stopSequences = stopsOf(request);
  const leftOut = new LeftOut();
  leftOut.addOthers(request, TRANSLATED);
  noteMessageFields(request, leftOut);
  const { service_tier: tier } = request;
  if (typeof tier === 'string' && tier !== 'auto' && tier !== 'standard_only') leftOut.add('service_tier');
  const content = new ConverseContent({ provider, leftOut, caches: isClaude });
  const body = {
    ...content.members(request['system'], request['messages']),
    inferenceConfig: present({
      maxTokens: request['max_tokens'],
      temperature: request['temperature'],
      topP: request['top_p'],
      stopSequences,
    }),
    toolConfig: toolsOf(request, content, { provider, leftOut }),
    outputConfig: formatOf(request, leftOut),
    additionalModelRequestFields: isClaude ? ofClaude(request, target, leftOut) : withoutClaude(request, leftOut),
    // Converse does not report which stop sequence matched, so the model's own field is requested.
    additionalModelResponseFieldPaths: isClaude && stopSequences !== undefined ? ['/stop_sequence'] : undefined,
  };
  return { body: present(body), leftOut: leftOut.fields };
}

function stopsOf({ stop_sequences: stops }: JsonObject): unknown {
  return Array.isArray(stops) && stops.length === 0 ? undefined : stops;
}

/** Fields that Converse lacks, under the model's own names. */
function ofClaude(request: JsonObject, { pricedModel, betas = [] }: TranslationTarget, leftOut: LeftOut): unknown {
  const { thinking, top_k, output_config: config } = request;
  const effort = isObject(config) ? (config['effort'] ?? undefined) : undefined;
  const known = betas.filter((beta) => BETAS.test(beta));
  if (betas.some((beta) => !BETAS.test(beta) && !WITHOUT_EFFECT.test(beta))) leftOut.add('anthropic-beta');
  if (effort !== undefined && EFFORT_IS_BETA.test(pricedModel)) known.push(EFFORT_BETA);
  const fields = present({
    thinking: isOn(thinking) ? thinking : undefined,
    top_k,
    output_config: effort === undefined ? undefined : { effort },
    anthropic_beta: known.length === 0 ? undefined : [...new Set(known)],
  });
  return Object.keys(fields).length === 0 ? undefined : fields;
}

/**
 * Beta flags that Bedrock knows, and that need no field of their own. Source: its guide to Claude's requests, read
 * 2026-11-28.
 */
const BETAS =
  /^(?:interleaved-thinking|dev-full-thinking|context-1m|output-128k|token-efficient-tools|fine-grained-tool-streaming|effort)-/;
/** Beta flags that name the client, or features that Converse has by default. */
const WITHOUT_EFFECT = /^(?:claude-code|oauth|prompt-caching|extended-cache-ttl|structured-outputs)-/;
const EFFORT_BETA = 'effort-2025-11-24';
const EFFORT_IS_BETA = /opus-4-5/;

function withoutClaude({ thinking, top_k: topK, output_config: config }: JsonObject, leftOut: LeftOut): undefined {
  if (isOn(thinking)) leftOut.add('thinking');
  if ((topK ?? null) !== null) leftOut.add('top_k');
  if (isObject(config) && (config['effort'] ?? null) !== null) leftOut.add('output_config.effort');
}

const OF_MODEL: ReadonlySet<string> = new Set(['effort']);

export function isOn(thinking: unknown): boolean {
  return isObject(thinking) && thinking['type'] !== 'disabled';
}

/** `output_format` is the former name of `output_config.format`. */
function formatOf(
  { output_config: config, output_format: former }: JsonObject,
  leftOut: LeftOut,
): JsonObject | undefined {
  const { format = former, ...others } = isObject(config) ? config : {};
  leftOut.addOthers(others, OF_MODEL, 'output_config.');
  if (!isObject(format) || format['type'] !== 'json_schema') return undefined;
  const jsonSchema = { schema: stringifyLongNumbers(format['schema'] ?? {}) };
  return { textFormat: { type: 'json_schema', structure: { jsonSchema } } };
}
