import type { ModelFacts } from '../../usage/models/model-facts.js';

/** The frame of a conversation. */
const FRAME_TOKENS = 64;
/** What a model reads about tools, beside their definitions. */
const TOOLS_TOKENS = 1_500;

/** What bounds the input of a request. */
export interface BoundedInput {
  /** Tokens at most; undefined: there is no bound. */
  readonly bound: number | undefined;
  /** The field that asks for work without a bound. */
  readonly unbounded: string | undefined;
  /** The member by which the provider adds input that it keeps. */
  readonly kept: string | undefined;
}

/** What a request says about the size of its input. */
export interface InputFacts {
  readonly images: number;
  /** Of the data of images in the body. */
  readonly imageBytes: number;
  readonly hasTools: boolean;
  /** Some content is not in the body, or may be more tokens than it has bytes. */
  readonly isUnseen: boolean;
  /** By how much the texts are known to have fewer tokens than bytes. */
  readonly savedTokens?: number | undefined;
}

/**
 * Tokens that the input of a request has at most; undefined: there is no bound. A token of a byte-level tokeniser has at least
 * one byte of the text, and JSON never makes a text shorter. Images are bounded by their number, not by their data.
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
