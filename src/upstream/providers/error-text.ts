import { isObject, stringOrUndefined } from '../../common/json/read.js';
import type { ProviderErrorText } from './provider.types.js';

type ErrorForm = (body: unknown) => ProviderErrorText | undefined;

/** Tries the forms in order; the first that fits gives the text. */
export function anyOf(...forms: readonly ErrorForm[]): ErrorForm {
  return (body) => {
    for (const form of forms) {
      const text = form(body);
      if (text !== undefined) return text;
    }
    return undefined;
  };
}

/** `{"message": "…"}`, with AWS's capital spelling as well. */
export function plainMessage(body: unknown): ProviderErrorText | undefined {
  if (!isObject(body)) return undefined;
  return textOf(body['message'] ?? body['Message']);
}

/** `{"error": {"message": "…", "param": "…"}}`, and `{"error": "…"}`. */
export function nestedError(body: unknown): ProviderErrorText | undefined {
  if (!isObject(body)) return undefined;
  const { error } = body;
  if (!isObject(error)) return textOf(error);
  return textOf(error['message'], stringOrUndefined(error['param']));
}

/** `{"detail": "…"}`, and FastAPI's list of broken rules: `{"detail": [{"loc": ["body", "query"], "msg": "…"}]}`. */
export function detail(body: unknown): ProviderErrorText | undefined {
  if (!isObject(body)) return undefined;
  const value = body['detail'];
  if (!Array.isArray(value)) return textOf(value);
  const rules = value.map(brokenRule).filter((rule) => rule !== undefined);
  return textOf(rules.map((rule) => rule.message).join('; '), rules[0]?.param);
}

function brokenRule(item: unknown): ProviderErrorText | undefined {
  if (!isObject(item) || typeof item['msg'] !== 'string') return undefined;
  const location: readonly unknown[] = Array.isArray(item['loc']) ? item['loc'] : [];
  // The first part says where the field was (body, query), not what it is called.
  const param = location.slice(1).map(String).join('.');
  return param === '' ? { message: item['msg'] } : { message: `${param}: ${item['msg']}`, param };
}

function textOf(message: unknown, param?: string): ProviderErrorText | undefined {
  if (typeof message !== 'string' || message === '') return undefined;
  return param === undefined || param === '' ? { message } : { message, param };
}
