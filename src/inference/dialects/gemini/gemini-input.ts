import { type JsonField, walkFields } from '../../../common/json/fields.js';
import type { ModelFacts } from '../../../usage/models/model-facts.js';
import { FieldPath } from '../field-path.js';
import { type BoundedInput, inputBound } from '../input-bound.js';

/** More than any Gemini model takes for an image: Gemini 3 takes 2,240 at its finest. */
const IMAGE_TOKENS = 10_000;
/** Google reads fields in camel and snake case. All are compared in lower case. */
const CONVERSATION: ReadonlySet<string> = new Set(['contents', 'systeminstruction', 'system_instruction']);
const INLINE: ReadonlySet<string | undefined> = new Set(['inlinedata', 'inline_data']);
/** Content that the provider stores or fetches. */
const ELSEWHERE: ReadonlySet<string> = new Set(['filedata', 'file_data']);
const KEPT: ReadonlySet<string> = new Set(['cachedcontent', 'cached_content']);
const MIME: ReadonlySet<string> = new Set(['mimetype', 'mime_type']);
/** Tools that the caller runs. Any other may add input of unknown size. */
const CALLERS_TOOLS: ReadonlySet<string> = new Set([
  'functiondeclarations',
  'function_declarations',
  'computeruse',
  'computer_use',
]);
/** The depth of a tool's fields in the body. */
const DEPTH_OF_TOOL = 3;
/** The depth of the fields of a part: `contents[].parts[].inlineData`. */
const DEPTH_OF_PART = 5;

/** Reads the bound of a request's input. Source: https://ai.google.dev/api/generate-content, read 2026-11-28. */
export function readGeminiInput(json: Buffer, knownModel: ModelFacts | undefined): BoundedInput {
  const path = new FieldPath();
  let images = 0;
  let imageBytes = 0;
  let hasTools = false;
  let isUnseen = false;
  let kept: string | undefined;
  let unbounded: string | undefined;
  const isWhole = walkFields(json, (field) => {
    const { name, member, depth } = field;
    path.enter(field);
    if (member === 'tools') {
      hasTools = true;
      if (depth === DEPTH_OF_TOOL && !field.isNull && !CALLERS_TOOLS.has(name)) unbounded ??= 'tools';
    }
    if (depth === 1 && KEPT.has(name) && !field.isNull) kept = 'cachedContent';
    if (!CONVERSATION.has(member)) return;
    isUnseen ||= ELSEWHERE.has(name) && !field.isNull;
    if (INLINE.has(name)) images += 1;
    // A page or a second of any other type may have more tokens than bytes.
    isUnseen ||= MIME.has(name) && field.text?.startsWith('image/') !== true;
    if (isData(field, path)) imageBytes += field.bytes;
  });
  const facts = { images, imageBytes, hasTools, isUnseen: isUnseen || kept !== undefined || !isWhole };
  return { bound: inputBound(json, facts, IMAGE_TOKENS, knownModel), unbounded, kept };
}

/** `{"contents": [{"parts": [{"inlineData": {"mimeType": "image/png", "data": "…"}}]}]}` */
function isData({ name, depth }: JsonField, path: FieldPath): boolean {
  if (name !== 'data' || depth !== DEPTH_OF_PART + 1) return false;
  return path.at(1) === 'contents' && path.at(3) === 'parts' && INLINE.has(path.at(DEPTH_OF_PART));
}
