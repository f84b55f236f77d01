import { createContext } from 'react';
import type { ErrorDetail, ExhaustedLimit } from '../api/types.gen';
import { ApiError, type Failure, messageOf } from './session';

/** What the gateway refused, by the fields of the form that send it. */
export interface Refusal {
  /** null: nothing was refused. */
  readonly error: Failure | null;
  /** By the `param` of a field. */
  readonly atFields: ReadonlyMap<string, string>;
  /** What no field of the form sends; undefined: nothing. */
  readonly rest: string | undefined;
}

export const NO_REFUSAL: Refusal = { error: null, atFields: new Map(), rest: undefined };

/** Messages for the fields of the form around. */
export const FieldMessages = createContext<Refusal['atFields']>(NO_REFUSAL.atFields);

/** @param params of the fields that the form shows */
export function refusalOf(error: Failure | null, params: readonly string[]): Refusal {
  if (error === null) return NO_REFUSAL;
  if (!(error instanceof ApiError)) return { error, atFields: new Map(), rest: messageOf(error) };
  const atFields = new Map<string, string>();
  const rest: string[] = [];
  for (const { param, message } of brokenRules(error)) {
    const field = fieldOf(param, params);
    if (field === undefined) rest.push(message);
    // The first rule that a field breaks is enough to mend it.
    else if (!atFields.has(field)) atFields.set(field, withoutPath(message, param));
  }
  return { error, atFields, rest: rest.length === 0 ? undefined : rest.join(' ') };
}

function brokenRules({ error }: ApiError): readonly ErrorDetail[] {
  const details = error.details?.filter(isBrokenRule) ?? [];
  return details.length > 0 ? details : [{ param: error.param, message: error.message }];
}

function isBrokenRule(detail: ErrorDetail | ExhaustedLimit): detail is ErrorDetail {
  return 'param' in detail;
}

/** The field that sends `param`, or the nearest thing around it: `events` sends `events.0`. */
function fieldOf(param: string | null, params: readonly string[]): string | undefined {
  const around = params.filter((field) => param === field || param?.startsWith(`${field}.`));
  return around.toSorted((one, other) => other.length - one.length)[0];
}

/** The label of the field says what the path would. */
function withoutPath(message: string, param: string | null): string {
  const text =
    param !== null && message.startsWith(param) ? message.slice(param.length).replace(/^[\s:]+/, '') : message;
  const sentence = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}
