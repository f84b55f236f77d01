import { type JsonField, walkFields } from '../../common/json/fields.js';
import type { ModelFacts } from '../../usage/models/model-facts.js';
import { type BoundedInput, inputBound } from './input-bound.js';

/**
 * The most tokens that an OpenAI model takes for an image, rounded up: 48,169 for gpt-4o-mini (guide to images and
 * vision).
 */
const IMAGE_TOKENS = 50_000;
const IMAGES: ReadonlySet<string> = new Set(['image_url', 'image']);
/** The fields that may hold the data of an image. */
const IMAGE_DATA: ReadonlySet<string> = new Set(['url', ...IMAGES]);
const DATA_URL = /^data:image\\?\//;
/** The members with the conversation. In others, such as the schema of a tool, a field of this name is text. */
const CONVERSATION: ReadonlySet<string> = new Set(['messages', 'input']);
const TOOLS: ReadonlySet<string> = new Set(['tools', 'functions']);
/** The depth of a tool's fields in the body. */
const DEPTH_OF_TOOL = 3;
/** Tools that the caller runs. Any other may add input and turns of unknown size. */
const CALLERS_TOOLS: ReadonlySet<string> = new Set([
  'function',
  'custom',
  'namespace',
  'local_shell',
  'apply_patch',
  'computer',
  'computer_use_preview',
]);
/** Files, in which a page may have more tokens than bytes, and content that the provider stores or fetches. */
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
/**
 * Items of a response of which the provider stores more than the request has: referenced items, images, search results.
 * Source: https://platform.openai.com/docs/guides/reasoning and …/docs/api-reference/responses/create, read 2026-11-28.
 */
const EARLIER_ITEMS: ReadonlySet<string | undefined> = new Set([
  'item_reference',
  'image_generation_call',
  'web_search_call',
  'file_search_call',
  'code_interpreter_call',
]);

/** The members of a dialect that affect its bound, unless they are null. */
export interface BoundMembers {
  /** They ask for work of unknown size. */
  readonly unbounded: ReadonlySet<string>;
  /** They refer to input that the provider stores. */
  readonly unseen: ReadonlySet<string>;
}

/** Reads the bound of a request's input, in the formats of OpenAI's API. */
export function readOpenaiInput(
  json: Buffer,
  { unbounded: unboundedMembers, unseen }: BoundMembers,
  knownModel: ModelFacts | undefined,
  savedTokens?: number,
): BoundedInput {
  let named = 0;
  let taken = 0;
  let imageBytes = 0;
  let hasTools = false;
  let isUnseen = false;
  let kept: string | undefined;
  const reasoning = new EarlierReasoning();
  let unbounded: string | undefined;
  const isWhole = walkFields(json, (field) => {
    const { name, member, depth } = field;
    if (depth === 1 && !field.isNull) {
      if (unboundedMembers.has(name)) unbounded ??= name;
      if (unseen.has(name)) kept ??= name;
    }
    hasTools ||= TOOLS.has(name);
    if (isProvidersTool(field)) unbounded ??= 'tools';
    if (!CONVERSATION.has(member)) return;
    isUnseen ||= UNSEEN.has(name) || (name === 'type' && EARLIER_ITEMS.has(field.text));
    reasoning.add(field);
    if (IMAGES.has(name)) named += 1;
    if (isImageData(field)) {
      taken += 1;
      imageBytes += field.bytes;
    }
  });
  isUnseen ||= !isWhole || kept !== undefined || reasoning.isUnseen;
  const facts = { images: Math.max(named, taken), imageBytes, hasTools, isUnseen, savedTokens };
  return { bound: inputBound(json, facts, IMAGE_TOKENS, knownModel), unbounded, kept };
}

function isProvidersTool(field: JsonField): boolean {
  if (field.member !== 'tools' || field.name !== 'type' || field.depth !== DEPTH_OF_TOOL) return false;
  const { text } = field;
  return text === undefined || !CALLERS_TOOLS.has(text);
}

function isImageData(field: JsonField): boolean {
  return IMAGE_DATA.has(field.name) && DATA_URL.test(field.text ?? '');
}

/** Reasoning of earlier turns. The provider adds it by its id when the request does not contain it encrypted. */
class EarlierReasoning {
  readonly #items = new Set<number>();
  readonly #withContent = new Set<number>();
  #isEmptied = false;

  add(field: JsonField): void {
    if (field.name === 'type' && field.text === 'reasoning') this.#items.add(field.object);
    if (field.name !== 'encrypted_content') return;
    if (field.text === undefined || field.text === '') this.#isEmptied = true;
    else this.#withContent.add(field.object);
  }

  get isUnseen(): boolean {
    if (this.#items.size === 0) return false;
    // When a field appears twice, the provider may read either one.
    return this.#isEmptied || [...this.#items].some((item) => !this.#withContent.has(item));
  }
}
