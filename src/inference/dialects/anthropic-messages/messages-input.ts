import { type JsonField, walkFields } from '../../../common/json/fields.js';
import type { ModelFacts } from '../../../usage/models/model-facts.js';
import { type BoundedInput, inputBound, type InputFacts } from '../input-bound.js';

/** The largest image takes 4,784 tokens, at the model with the highest resolution (guide to vision). */
const IMAGE_TOKENS = 5_000;
/** The depth of a tool's fields in the body. */
const DEPTH_OF_TOOL = 3;
/** Tools that the caller runs. Any other may add input and turns of unknown size. */
const CALLERS_TOOL = /^(?:custom$|bash_|text_editor_|computer_|memory_)/;
/** With these, the provider writes a summary on its own. */
const SUMMARY = /^compact_/;
const CONVERSATION: ReadonlySet<string> = new Set(['messages', 'system']);
/** The fields of the source of an inline image. */
const SOURCE: ReadonlySet<string> = new Set(['type', 'media_type', 'data']);

export interface MessagesInput extends BoundedInput {
  /** Whether the request writes to the provider's cache. */
  readonly writesCache: boolean;
}

/** Reads the bound of a request's input. Source: https://docs.anthropic.com/en/api/messages, read 2026-11-27. */
export function readMessagesInput(json: Buffer, knownModel: ModelFacts | undefined): MessagesInput {
  const sources = new ImageSources();
  let images = 0;
  let hasTools = false;
  let isUnseen = false;
  let kept: string | undefined;
  let writesCache = false;
  let unbounded: string | undefined;
  const isWhole = walkFields(json, (field) => {
    unbounded ??= unboundedBy(field);
    if (field.name === 'type' && field.text === 'image') images += 1;
    hasTools ||= field.name === 'tools';
    isUnseen ||= isOutside(field);
    kept ??= keptBy(field);
    writesCache ||= field.name === 'cache_control';
    if (CONVERSATION.has(field.member) && SOURCE.has(field.name)) sources.add(field);
  });
  const found = sources.images();
  const facts: InputFacts = {
    images: Math.max(images, found.count),
    imageBytes: found.bytes,
    hasTools,
    isUnseen: isUnseen || kept !== undefined || !isWhole,
  };
  return { bound: inputBound(json, facts, IMAGE_TOKENS, knownModel), unbounded, kept, writesCache };
}

function unboundedBy(field: JsonField): string | undefined {
  const { name, member, depth } = field;
  if (depth === 1 && name === 'mcp_servers' && !field.isNull) return name;
  if (name !== 'type' || field.isNull) return undefined;
  if (member === 'tools' && depth === DEPTH_OF_TOOL) return CALLERS_TOOL.test(field.text ?? '') ? undefined : 'tools';
  return member === 'context_management' && SUMMARY.test(field.text ?? '') ? member : undefined;
}

/** The member that names a container, whose files the model's code may read. */
function keptBy({ name, depth, isNull }: JsonField): string | undefined {
  return depth === 1 && name === 'container' && !isNull ? name : undefined;
}

/** Content at a URL or stored by the provider, or in which a page may have more tokens than bytes. */
function isOutside(field: JsonField): boolean {
  const { name, member } = field;
  // In other members, such as the schema of a tool, it is text.
  if (!CONVERSATION.has(member)) return false;
  if (name === 'file_id') return true;
  return name === 'type' ? field.text === 'url' : name === 'media_type' && field.text === 'application/pdf';
}

/** The objects that may be `{"type": "base64", "media_type": "image/png", "data": "…"}`, in any order. */
class ImageSources {
  readonly #byObject = new Map<number, JsonField[]>();

  add(field: JsonField): void {
    const fields = this.#byObject.get(field.object);
    if (fields === undefined) this.#byObject.set(field.object, [field]);
    else fields.push(field);
  }

  images(): { readonly count: number; readonly bytes: number } {
    let count = 0;
    let bytes = 0;
    for (const fields of this.#byObject.values()) {
      // An object with a repeated field is not counted, since the provider may read either one.
      if (fields.length !== SOURCE.size || new Set(fields.map(({ name }) => name)).size !== SOURCE.size) continue;
      if (!fields.every(isOfImage)) continue;
      count += 1;
      bytes += fields.find(({ name }) => name === 'data')?.bytes ?? 0;
    }
    return { count, bytes };
  }
}

function isOfImage({ name, text }: JsonField): boolean {
  if (text === undefined) return false;
  return name === 'type' ? text === 'base64' : name === 'data' || text.startsWith('image/');
}
