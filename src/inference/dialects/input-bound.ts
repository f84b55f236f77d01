import { endOfString } from '../../common/json/scan.js';
import type { ModelFacts } from '../../usage/models/model-catalogue.js';

/** The frame of a conversation. */
const FRAME_TOKENS = 64;
/** What a model reads about tools, beside their definitions. */
const TOOLS_TOKENS = 1_500;
const TOOLS = '"tools"';
/** The dearest of OpenAI's models takes 48,169 tokens for the largest image (guide to images and vision, gpt-4o-mini). */
const IMAGE_TOKENS = 50_000;
const IMAGE = '"image_url"';
const COLON = 0x3a;
const SPACE = 0x20;
/** No text can contain these bytes: the quotes in it are escaped. */
const IMAGE_DATA = ['"url":"data:image/', '"url": "data:image/'] as const;
/** Content that is not in the request, or in which a page may be more tokens than it has bytes. */
const UNSEEN = ['"file_id"', '"file_data"', '"file_url"', '"audio_url"', '"video_url"'] as const;

/**
 * Tokens that the input of a request has at most; undefined: there is no bound. A token of a byte-level tokeniser has at least
 * one byte of the text, and JSON never makes a text shorter. The data of images are taken out, and bounded by their number.
 */
export function inputBound(json: Buffer, knownModel: ModelFacts | undefined): number | undefined {
  const window = knownModel?.contextWindow;
  if (UNSEEN.some((name) => json.includes(name))) return window;
  const frame = json.includes(TOOLS) ? FRAME_TOKENS + TOOLS_TOKENS : FRAME_TOKENS;
  const bound = json.length - imageBytes(json) + countImages(json) * IMAGE_TOKENS + frame;
  return window === undefined ? bound : Math.min(bound, window);
}

function imageBytes(json: Buffer): number {
  let bytes = 0;
  for (const start of IMAGE_DATA) {
    for (let at = json.indexOf(start); at >= 0; at = json.indexOf(start, at + start.length)) {
      const value = at + start.indexOf('"data:');
      bytes += endOfString(json, value) - value;
    }
  }
  return bytes;
}

/** By their fields: the type of a part has the same name. */
function countImages(json: Buffer): number {
  let images = 0;
  for (let at = json.indexOf(IMAGE); at >= 0; at = json.indexOf(IMAGE, at + 1)) {
    let next = at + IMAGE.length;
    while (json[next] === SPACE) next += 1;
    if (json[next] === COLON) images += 1;
  }
  return images;
}
