import { type JsonField, walkFields } from '../../common/json/fields.js';
import type { ModelFacts } from '../../usage/models/model-catalogue.js';
import { inputBound, type InputFacts } from './input-bound.js';

/** The dearest of OpenAI's models takes 48,169 tokens for the largest image (guide to images and vision, gpt-4o-mini). */
const IMAGE_TOKENS = 50_000;
const IMAGES: ReadonlySet<string> = new Set(['image_url', 'image']);
/** Where the data of an image may be. */
const IMAGE_DATA: ReadonlySet<string> = new Set(['url', ...IMAGES]);
const DATA_URL = /^data:image\\?\//;
/** The members with the conversation. Elsewhere, such as in the schema of a tool, a field of the same name is text. */
const CONVERSATION: ReadonlySet<string> = new Set(['messages', 'input']);
const TOOLS: ReadonlySet<string> = new Set(['tools', 'functions']);
/** Files, in which a page may be more tokens than it has bytes, and what the provider keeps or fetches itself. */
const UNSEEN: ReadonlySet<string> = new Set([
  'file_id',
  'file_data',
  'file_url',
  'audio_url',
  'video_url',
  'video',
  // An earlier answer.
  'audio',
]);

/** Tokens that the input of a request has at most, in the forms of OpenAI's API; undefined: there is no bound. */
export function openaiInputBound(json: Buffer, knownModel: ModelFacts | undefined): number | undefined {
  return inputBound(json, readInput(json), IMAGE_TOKENS, knownModel);
}

function readInput(json: Buffer): InputFacts {
  let named = 0;
  let taken = 0;
  let imageBytes = 0;
  let hasTools = false;
  let isUnseen = false;
  const isWhole = walkFields(json, (field) => {
    hasTools ||= TOOLS.has(field.name);
    if (!CONVERSATION.has(field.member)) return;
    isUnseen ||= UNSEEN.has(field.name);
    if (IMAGES.has(field.name)) named += 1;
    if (isImageData(field)) {
      taken += 1;
      imageBytes += field.bytes;
    }
  });
  return { images: Math.max(named, taken), imageBytes, hasTools, isUnseen: isUnseen || !isWhole };
}

function isImageData({ name, text }: JsonField): boolean {
  return text !== undefined && IMAGE_DATA.has(name) && DATA_URL.test(text);
}
