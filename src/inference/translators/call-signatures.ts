import { isObject, type JsonObject, stringOrUndefined } from '../../common/json/read.js';

/** Of letters that every API takes in the id of a call. */
const MARK = '__signed__';
/** Of a signature. */
const MAX_CHARACTERS = 64 * 1024;
const GEMINI = /(?:^|\/)gemini-/i;
/** Those that refuse a conversation without signatures. */
const DEMANDING = /(?:^|\/)gemini-(?:[3-9]|[1-9]\d)(?:\D|$)/i;
/** Google's word for a call that another model has made. */
const OF_ANOTHER = 'skip_thought_signature_validator';

/**
 * The id of a call, and in it the signature that Gemini demands back with the call: messages and responses have no other place for
 * it. Source: https://ai.google.dev/gemini-api/docs/thought-signatures and …/openai, read 2026-11-28.
 */
export function signedId(id: string, { extra_content: extra }: JsonObject): string {
  const ofGoogle = isObject(extra) && isObject(extra['google']) ? extra['google'] : {};
  const signature = stringOrUndefined(ofGoogle['thought_signature']) ?? '';
  if (signature === '' || signature.length > MAX_CHARACTERS) return id;
  return `${id}${MARK}${Buffer.from(signature).toString('base64url')}`;
}

/** The signature of a call: beside it, where its client keeps that, or in its id. */
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

/** The id as its provider knows it. */
export function plainId(id: string): string {
  return parts(id).plain;
}

/**
 * What a call of an assistant's message has besides, for Gemini: its signature.
 * @param isFirst of the message: of calls in parallel, Gemini signs the first
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
