import { isObject, type JsonObject, stringOrUndefined } from '../../common/json/read.js';

/** Separates an id from its signature, in letters that every API accepts in the id of a call. */
const MARK = '__signed__';
/** The longest signature. */
const MAX_CHARACTERS = 64 * 1024;
const GEMINI = /(?:^|\/)gemini-/i;
/** Models that refuse a conversation without signatures. */
const DEMANDING = /(?:^|\/)gemini-(?:[3-9]|[1-9]\d)(?:\D|$)/i;
/** Google's placeholder for the signature of another model's call. */
const OF_ANOTHER = 'skip_thought_signature_validator';

/**
 * Adds the signature of a call to its id. Gemini requires it back with the call, and messages and responses have no
 * other place for it.
 * Source: https://ai.google.dev/gemini-api/docs/thought-signatures and …/openai, read 2026-11-28.
 */
export function signedId(id: string, { extra_content: extra }: JsonObject): string {
  const ofGoogle = isObject(extra) && isObject(extra['google']) ? extra['google'] : {};
  const signature = stringOrUndefined(ofGoogle['thought_signature']) ?? '';
  if (signature === '' || signature.length > MAX_CHARACTERS) return id;
  return `${id}${MARK}${Buffer.from(signature).toString('base64url')}`;
}

/**
 * The signature of a call, from `extra_content` if the client kept it, or from its id. The first call of a message may
 * get a placeholder.
 */
export function thoughtSignatureOf(
  id: string,
  { extra_content: extra }: JsonObject,
  model: string,
  isFirst: boolean,
): string | undefined {
  if (!GEMINI.test(model)) return undefined;
  const ofGoogle = isObject(extra) && isObject(extra['google']) ? extra['google'] : {};
  const given = stringOrUndefined(ofGoogle['thought_signature']) || parts(id).signature;
  return given ?? (isFirst && DEMANDING.test(model) ? OF_ANOTHER : undefined);
}

/** The provider's id of a call, without the signature. */
export function plainId(id: string): string {
  return parts(id).plain;
}

/**
 * The additional member of an assistant's call for Gemini: its signature.
 * @param isFirst whether it is the first call of the message: of parallel calls, Gemini signs the first
 */
export function signatureOf(id: string, model: string, isFirst: boolean): JsonObject {
  const thought_signature = thoughtSignatureOf(id, {}, model, isFirst);
  return thought_signature === undefined ? {} : { extra_content: { google: { thought_signature } } };
}

function parts(id: string): { readonly plain: string; readonly signature: string | undefined } {
  const at = id.lastIndexOf(MARK);
  if (at < 0) return { plain: id, signature: undefined };
  return { plain: id.slice(0, at), signature: Buffer.from(id.slice(at + MARK.length), 'base64url').toString() };
}
