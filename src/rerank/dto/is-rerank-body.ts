import type { JsonObject } from '../../common/json/read.js';
import { problemOfDocuments } from './are-documents.decorator.js';

type Check = (value: unknown, body: JsonObject) => boolean;

const isText: Check = (value) => typeof value === 'string' && value !== '';
const isBoolean: Check = (value) => typeof value === 'boolean';
const isPositiveInteger: Check = (value) => typeof value === 'number' && Number.isInteger(value) && value >= 1;

const REQUIRED = ['model', 'query', 'documents'] as const;

const CHECKS: Readonly<Record<string, Check>> = {
  model: isText,
  query: isText,
  documents: (value, body) => problemOfDocuments(value, body) === undefined,
  top_n: isPositiveInteger,
  return_documents: isBoolean,
  max_tokens_per_doc: isPositiveInteger,
  priority: (value) => typeof value === 'number' && Number.isFinite(value),
  rank_fields: (value) => Array.isArray(value) && value.every((field) => typeof field === 'string'),
  truncation: isBoolean,
  parameters: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
};

/** Whether a body breaks no rule of `CreateRerankDto`. A spec holds the two against each other. */
export function isRerankBody(body: JsonObject): boolean {
  if (!REQUIRED.every((name) => Object.hasOwn(body, name))) return false;
  return Object.keys(body).every((name) => {
    const check = Object.hasOwn(CHECKS, name) ? CHECKS[name] : undefined;
    const value = body[name];
    if (check === undefined) return false;
    return value === undefined ? !REQUIRED.some((required) => required === name) : check(value, body);
  });
}
