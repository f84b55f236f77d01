import { type JsonField, walkFields } from '../../../common/json/fields.js';
import type { ModelFacts } from '../../../usage/models/model-facts.js';
import { FieldPath } from '../field-path.js';
import { type BoundedInput, inputBound } from '../input-bound.js';

/** More than any Bedrock model takes for its largest image: Claude takes up to 4,784 tokens, Nova and Pixtral fewer. */
const IMAGE_TOKENS = 10_000;
/** Content that is stored elsewhere, or in which a page or a second may have more tokens than bytes. */
const UNSEEN: ReadonlySet<string> = new Set(['s3location', 'document', 'video', 'audio']);
const CONVERSATION: ReadonlySet<string> = new Set(['messages', 'system']);
const MORE_FIELDS = 'additionalmodelrequestfields';
/** Tools that the caller runs. Any other may add input of unknown size. */
const CALLERS_TOOL = /^(?:custom$|function$|bash_|text_editor_|computer_|memory_)/;

export interface ConverseInput extends BoundedInput {
  /** Whether the request writes to a cache. */
  readonly writesCache: boolean;
}

/** Reads the bound of a Converse request's input. Source: the API reference of Converse, read 2026-11-28. */
export function readConverseInput(json: Buffer, knownModel: ModelFacts | undefined): ConverseInput {
  const path = new FieldPath();
  let images = 0;
  let imageBytes = 0;
  let hasTools = false;
  let isUnseen = false;
  let kept: string | undefined;
  let writesCache = false;
  let unbounded: string | undefined;
  const isWhole = walkFields(json, (field) => {
    const { name, member, depth } = field;
    path.enter(field);
    unbounded ??= unboundedBy(field, path);
    writesCache ||= name === 'cachepoint';
    hasTools ||= name === 'toolconfig';
    // Variables belong to a prompt that the provider stores.
    if (depth === 1 && name === 'promptvariables' && !field.isNull) kept = 'promptVariables';
    if (!CONVERSATION.has(member)) return;
    isUnseen ||= UNSEEN.has(name);
    if (name === 'image') images += 1;
    if (isOfImage(path, depth)) imageBytes += field.bytes;
  });
  const facts = { images, imageBytes, hasTools, isUnseen: isUnseen || kept !== undefined || !isWhole };
  return { bound: inputBound(json, facts, IMAGE_TOKENS, knownModel), unbounded, kept, writesCache };
}

/** The field that asks for searches, code or other tools that run at AWS. */
function unboundedBy(field: JsonField, path: FieldPath): string | undefined {
  const { name, member, depth } = field;
  if (member === 'toolconfig') return name === 'systemtool' ? 'toolConfig' : undefined;
  if (member !== MORE_FIELDS) return undefined;
  const isTool = name === 'type' && depth === 4 && path.at(2) === 'tools';
  const isOutside = isTool && !CALLERS_TOOL.test(field.text ?? '');
  return isOutside || name === 'mcp_servers' ? 'additionalModelRequestFields' : undefined;
}

/** The depths of content blocks: in a message, and in a tool result of a message. */
const BLOCK_DEPTHS: readonly number[] = [5, 8];

/**
 * Whether a field is the data of an image in a content block: `{"image": {"format": "png", "source": {"bytes": "…"}}}`.
 */
function isOfImage(path: FieldPath, depth: number): boolean {
  const block = depth - 2;
  if (!BLOCK_DEPTHS.includes(block) || path.at(1) !== 'messages' || path.at(3) !== 'content') return false;
  if (block === BLOCK_DEPTHS[1] && (path.at(5) !== 'toolresult' || path.at(6) !== 'content')) return false;
  return path.at(block) === 'image' && path.at(block + 1) === 'source' && path.at(depth) === 'bytes';
}
