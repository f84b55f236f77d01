import type { ModelFacts } from '../../usage/models/model-facts.js';

/** Tokens that frame a conversation. */
const FRAME_TOKENS = 64;
/** Tokens that a model reads about tools, besides their definitions. */
const TOOLS_TOKENS = 1_500;

/** The bound of a request's input. */
export interface BoundedInput {
  /** In tokens; undefined without a bound. */
  readonly bound: number | undefined;
  /** The field that asks for unbounded work. */
  readonly unbounded: string | undefined;
  /** The member that makes the provider add stored input. */
  readonly kept: string | undefined;
}

/** The facts of a request that determine the size of its input. */
export interface InputFacts {
  readonly images: number;
  /** The size of the image data in the body. */
  readonly imageBytes: number;
  readonly hasTools: boolean;
  /** Whether some content is not in the body, or may have more tokens than bytes. */
  readonly isUnseen: boolean;
  /** The bytes of the texts minus their counted tokens. */
  readonly savedTokens?: number | undefined;
}

/**
 * The most tokens that the input of a request can have; undefined without a bound. A token of a byte-level tokeniser
 * has at least one byte of text, and JSON never shortens a text. Images are bounded by their number, not by their data.
 */
export function inputBound(
  json: Buffer,
  { images, imageBytes, hasTools, isUnseen, savedTokens = 0 }: InputFacts,
  imageTokens: number,
  knownModel: ModelFacts | undefined,
): number | undefined {
  const window = knownModel?.contextWindow;
  if (isUnseen) return window;
  const frame = hasTools ? FRAME_TOKENS + TOOLS_TOKENS : FRAME_TOKENS;
  const bound = json.length - imageBytes + images * imageTokens + frame - savedTokens;
  return window === undefined ? bound : Math.min(bound, window);
}
