// Requests of InvokeModel have the format of their model. Source:
// https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters.html and the pages behind it, read 2026-11-28.
import type { CapPath } from '../nested-caps.js';

/** The request format of a family of models. */
export interface ModelFamily {
  /** The places of the output cap; empty for models that write no tokens. */
  readonly caps: readonly CapPath[];
  /** Whether its input has the format of Anthropic's messages. */
  readonly isMessages?: true;
}

const MAX_TOKENS: ModelFamily = { caps: [['max_tokens'], ['max_completion_tokens']] };
const NO_OUTPUT: ModelFamily = { caps: [] };

/** Families by the start of the model's id, after a region or the path of an ARN. */
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

/** Models of images and videos, which are sold by the piece. The gateway does not count pieces. */
const DRAWS = /^(?:amazon\.(?:nova-canvas|nova-reel|titan-image)|stability\.|luma\.|twelvelabs\.)/;
/** The prefix of an id: `us.`, `global.`, or an ARN up to its last slash. */
const IN_FRONT = /^(?:arn:.*\/)?(?:(?:us|us-gov|eu|apac|au|jp|ca|sa|me|af|global)\.)?/;

/** undefined when the request format of the model is unknown. */
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
