// Reads the error bodies of all providers, and of proxies, other gateways and web frameworks before them. There is one
// reader for all, since a base URL may lead anywhere. The formats come from the providers' own pages, read 2026-11-21.
import { isObject, type JsonObject, parseForeignJson, stringOrUndefined } from '../../common/json/read.js';
import { firstHeader, type UpstreamAnswer } from '../upstream.types.js';

/** The provider's own texts about a failure, unchecked and of any length. */
export interface ProviderErrorText {
  readonly message?: string | undefined;
  readonly param?: string | undefined;
  readonly code?: string | undefined;
  readonly type?: string | undefined;
}

const NOTHING: ProviderErrorText = {};

/** Deeper than any known format: `{"detail": [{"error": {"message": "…"}}]}`. */
const MAX_DEPTH = 4;
/** The most items that are read of a list of broken rules. */
const MAX_ITEMS = 20;

/** Fields that hold the error itself, the most specific first. */
const HOLDERS = ['error', 'detail', 'errors', 'fault', 'base_resp', 'message'] as const;
const MESSAGES = [
  'message',
  'Message',
  'msg',
  'error_message',
  'error_msg',
  'errmsg',
  'status_msg',
  'error_description',
  'faultstring',
  'title',
] as const;
/** The first name is of another gateway, which forwards its provider's code. */
const CODES = ['provider_code', 'code', 'errorcode', 'error_code', 'errcode'] as const;
/** `status` is a word at Google and Pinecone, and a number elsewhere. */
const TYPES = ['provider_type', 'type', 'error_type', '__type', 'status'] as const;

/** Reads the error of an answer in any known format; empty when it has none. */
export function readProviderError(answer: UpstreamAnswer): ProviderErrorText {
  const value = parseForeignJson(answer.body);
  const said = value === undefined ? readPlainText(answer) : readErrorValue(value);
  const { code = firstHeader(answer.headers, 'x-ms-error-code'), type = awsType(answer) } = said;
  return { ...said, code, type };
}

/** Reads the error of an answer whose body is already parsed. */
export function readErrorValue(value: unknown): ProviderErrorText {
  return readValue(value, MAX_DEPTH);
}

function readValue(value: unknown, depth: number): ProviderErrorText {
  if (depth === 0) return NOTHING;
  if (typeof value === 'string') return { message: value.trim() || undefined };
  if (Array.isArray(value)) return readList(value, depth);
  return isObject(value) ? readFields(value, depth) : NOTHING;
}

/** Joins the messages of all items. Parameter, code and type are those of the first item with a message. */
function readList(items: readonly unknown[], depth: number): ProviderErrorText {
  const read = items.slice(0, MAX_ITEMS).map((item) => readValue(item, depth - 1));
  const messages = read.map(({ message }) => message).filter((message) => message !== undefined);
  const first = read.find(({ message }) => message !== undefined) ?? NOTHING;
  return { ...first, message: messages.length === 0 ? undefined : messages.join('; ') };
}

function readFields(fields: JsonObject, depth: number): ProviderErrorText {
  const own = {
    message: messageIn(fields),
    param: stringOrUndefined(fields['param']) || fieldName(fields['loc']),
    code: wordIn(fields, CODES) ?? outcomeCode(fields),
    type: wordIn(fields, TYPES),
  };
  if (own.message !== undefined && own.param !== undefined && Array.isArray(fields['loc'])) {
    return { ...own, message: `${own.param}: ${own.message}` };
  }
  for (const holder of HOLDERS) {
    const held = fields[holder];
    const inner = readValue(held, depth - 1);
    if (inner.message === undefined) continue;
    // `{"error": "Bad Request", "message": "top_n is too large"}`: `error` is only a name, not the message.
    if (holder === 'error' && typeof held === 'string' && own.message !== undefined) {
      return { ...own, code: own.code ?? inner.message };
    }
    return {
      message: inner.message,
      param: inner.param ?? own.param,
      code: inner.code ?? own.code,
      type: inner.type ?? own.type,
    };
  }
  // Without a message, the object may still hold the code of its error, or a field and its problem.
  const { error } = fields;
  return own.message === undefined && isObject(error) ? { ...own, ...present(readValue(error, depth - 1)) } : own;
}

/** The message of an object, under any known name. */
export function messageIn(fields: JsonObject): string | undefined {
  return textIn(fields, MESSAGES);
}

/** MiniMax has its own code in `status_code`, where others repeat the HTTP status. */
function outcomeCode(fields: JsonObject): string | undefined {
  return fields['status_msg'] === undefined ? undefined : wordIn(fields, ['status_code']);
}

/** `["body", "documents", 0]` → `documents.0`: the first part names the place of the field, such as the body. */
function fieldName(location: unknown): string | undefined {
  if (!Array.isArray(location)) return undefined;
  return location.slice(1, MAX_ITEMS).map(String).join('.') || undefined;
}

function textIn(fields: JsonObject, names: readonly string[]): string | undefined {
  for (const name of names) {
    const text = stringOrUndefined(fields[name])?.trim();
    if (text) return text;
  }
  return undefined;
}

/** A name, or a number as text. */
function wordIn(fields: JsonObject, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = fields[name];
    if (typeof value === 'number' && name !== 'status') return String(value);
    if (typeof value === 'string' && value !== '' && value !== 'about:blank') return value;
  }
  return undefined;
}

function present(text: ProviderErrorText): ProviderErrorText {
  return Object.fromEntries(Object.entries(text).filter(([, value]) => value !== undefined));
}

/** A plain text as the message, unless it is the page of a proxy. */
function readPlainText({ headers, body }: UpstreamAnswer): ProviderErrorText {
  const type = (firstHeader(headers, 'content-type') ?? '').toLowerCase();
  const text = type.startsWith('text/plain') ? body.toString('utf8').trim() : '';
  return text === '' || text.startsWith('<') ? NOTHING : { message: text };
}

/** `ValidationException:http://internal.amazon.com/…`, or with a namespace: `com.amazon.coral#ValidationException`. */
function awsType({ headers }: UpstreamAnswer): string | undefined {
  return firstHeader(headers, 'x-amzn-errortype')?.split(':', 1)[0]?.split('#').at(-1) || undefined;
}
