import { isObject, type JsonObject } from '../common/json/read.js';
import { messageIn } from './providers/error-text.js';

/** Fields with the code of an answer that says beside it, in a message, how the call ended. */
const CODES = ['code', 'error_code', 'errcode'] as const;
const SUCCESS = /^(?:ok|success|succeeded|successful)[.!]?$/i;

/**
 * Whether an answer says by a code of its own that the call failed: `{"base_resp": {"status_code": 1004, "status_msg": "…"}}` (MiniMax),
 * `{"code": 1001, "msg": "…"}`, `{"error_code": 17, "error_msg": "…"}`. An object of the provider may have a code too, and results say
 * more than a code: neither is a failure.
 */
export function namesFailure(answer: unknown): boolean {
  if (!isObject(answer) || hasItems(answer['results']) || hasItems(answer['data'])) return false;
  const { base_resp: outcome, id, success, status } = answer;
  if (isObject(outcome) && isFailureCode(outcome['status_code'])) return true;
  if (typeof id === 'string' || success === true || status === true) return false;
  const message = messageIn(answer);
  return message !== undefined && !SUCCESS.test(message) && CODES.some((name) => isFailureCode(answer[name]));
}

/** Whether an answer says that the call succeeded. What it lacks is then not an error of the provider's. */
export function namesSuccess(answer: JsonObject): boolean {
  const { base_resp: outcome } = answer;
  const codes = isObject(outcome) ? [outcome['status_code']] : CODES.map((name) => answer[name]);
  return codes.some(isSuccessCode) && !codes.some(isFailureCode);
}

function hasItems(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}

function isSuccessCode(code: unknown): boolean {
  return (typeof code === 'number' || typeof code === 'string') && code !== '' && !isFailureCode(code);
}

/** 0 and the statuses of HTTP are a success, and a word that says so. */
function isFailureCode(code: unknown): boolean {
  if (typeof code === 'number') return code !== 0 && !(code >= 200 && code <= 299);
  if (typeof code !== 'string' || code === '') return false;
  const number = Number(code);
  return Number.isNaN(number) ? !SUCCESS.test(code) : isFailureCode(number);
}
