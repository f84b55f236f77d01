// The requests of InvokeModel have the form of their model. Source: https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters.html
// and the pages behind it, read 2026-11-28.
import type { CapPath } from '../nested-caps.js';

/** What is known of the requests of some models. */
export interface ModelFamily {
  /** Where its output cap stands; none: it writes no tokens. */
  readonly caps: readonly CapPath[];
  /** What of its input is in the form of Anthropic's messages. */
  readonly isMessages?: true;
}

const MAX_TOKENS: ModelFamily = { caps: [['max_tokens'], ['max_completion_tokens']] };
const NO_OUTPUT: ModelFamily = { caps: [] };

/** By the beginning of the model's id, behind a region or the path of an ARN. */
const FAMILIES: readonly (readonly [start: string, family: ModelFamily])[] = [
  ['anthropic.claude-v2', { caps: [['max_tokens'], ['max_tokens_to_sample']] }],
  ['anthropic.claude-instant', { caps: [['max_tokens'], ['max_tokens_to_sample']] }],
  ['anthropic.', { caps: [['max_tokens']], isMessages: true }],
  ['amazon.nova-canvas', NO_OUTPUT],
  ['amazon.nova-reel', NO_OUTPUT],
  [
    'amazon.nova-',
    {
      caps: [
        ['inferenceConfig', 'maxTokens'],
        ['inferenceConfig', 'max_new_tokens'],
      ],
    },
  ],
  ['amazon.titan-embed', NO_OUTPUT],
  ['amazon.titan-image', NO_OUTPUT],
  ['amazon.titan-', { caps: [['textGenerationConfig', 'maxTokenCount']] }],
  ['amazon.rerank', NO_OUTPUT],
  ['meta.', { caps: [['max_gen_len']] }],
  ['cohere.embed', NO_OUTPUT],
  ['cohere.rerank', NO_OUTPUT],
  ['cohere.', MAX_TOKENS],
  ['stability.', NO_OUTPUT],
  ['mistral.', MAX_TOKENS],
  ['ai21.', { caps: [['max_tokens'], ['maxTokens']] }],
  ['deepseek.', MAX_TOKENS],
  ['openai.', MAX_TOKENS],
  ['qwen.', MAX_TOKENS],
  ['writer.', MAX_TOKENS],
];

/** Images and videos are sold by the piece, which is not counted. */
const DRAWS = /^(?:amazon\.(?:nova-canvas|nova-reel|titan-image)|stability\.|luma\.|twelvelabs\.)/;
/** `us.`, `global.`, or everything of an ARN before its last slash. */
const IN_FRONT = /^(?:arn:.*\/)?(?:(?:us|us-gov|eu|apac|au|jp|ca|sa|me|af|global)\.)?/;

/** undefined: its requests have a form that is not known. */
export function familyOf(model: string): ModelFamily | undefined {
  const id = idOf(model);
  return FAMILIES.find(([start]) => id.startsWith(start))?.[1];
}

export function draws(model: string): boolean {
  return DRAWS.test(idOf(model));
}

function idOf(model: string): string {
  return model.toLowerCase().replace(IN_FRONT, '');
}
