import { applyDecorators } from '@nestjs/common';
import { ValidateBy, type ValidationArguments } from 'class-validator';
import { isObject, type JsonObject } from '../../common/json/read.js';
import { AsGiven } from '../../common/validation/bounded-fields.js';
import { FOREIGN_OPTIONS } from '../rerank.types.js';

/** Ten times the largest number that a provider takes. */
const MAX_DOCUMENTS = 100_000;
export const MAX_RANK_FIELDS = 100;
export const MAX_PARAMETERS = 100;

/**
 * At least one document, each a string or an object with a string `text`. Objects may do without `text` when `rank_fields`
 * names other fields. One rule for the whole array: a rule for each item costs a thousand times as much.
 */
export function AreDocuments(): PropertyDecorator {
  const areDocuments = ValidateBy({
    name: 'areDocuments',
    validator: {
      validate: (value: unknown, args?: ValidationArguments) => problemOfDocuments(value, args?.object) === undefined,
      defaultMessage: (args?: ValidationArguments) =>
        `documents${problemOfDocuments(args?.value, args?.object) ?? ' is valid'}`,
    },
  });
  return applyDecorators(areDocuments, AsGiven(MAX_DOCUMENTS, Infinity));
}

/** A boolean. Some clients write it as text, for servers that read both; the API description shows the boolean only. */
export function IsBooleanOrItsText(): PropertyDecorator {
  return ValidateBy({
    name: 'isBooleanOrItsText',
    validator: {
      validate: (value: unknown) => BOOLEANS.has(value),
      defaultMessage: () => '$property must be a boolean value',
    },
  });
}

/** Describes the first wrong document, as text that follows `documents`; undefined when all are valid. */
function problemOfDocuments(documents: unknown, body: unknown): string | undefined {
  if (!Array.isArray(documents)) return ' must be an array';
  if (documents.length === 0) return ' must have at least 1 item';
  if (documents.length > MAX_DOCUMENTS) return ` must have at most ${MAX_DOCUMENTS} items`;
  const rankFields = isObject(body) ? body['rank_fields'] : undefined;
  const needsText = !Array.isArray(rankFields) || rankFields.length === 0;
  for (let index = 0; index < documents.length; index += 1) {
    const document: unknown = documents[index];
    if (typeof document === 'string') continue;
    if (!isObject(document)) return `.${index} must be a string or an object`;
    const { text } = document;
    if (text === undefined || text === null ? needsText : typeof text !== 'string')
      return `.${index}.text must be a string`;
  }
  return undefined;
}

type Check = (value: unknown, body: JsonObject) => boolean;

const BOOLEANS: ReadonlySet<unknown> = new Set([true, false, 'true', 'false']);

const isText: Check = (value) => typeof value === 'string' && value !== '';
const isBoolean: Check = (value) => typeof value === 'boolean';
const isPositiveInteger: Check = (value) => typeof value === 'number' && Number.isInteger(value) && value >= 1;

const REQUIRED: ReadonlySet<string> = new Set(['model', 'query', 'documents']);

/** Left for the provider, whatever they are. */
const isAnything: Check = () => true;

const CHECKS: Readonly<Record<string, Check>> = {
  ...Object.fromEntries(FOREIGN_OPTIONS.map((name) => [name, isAnything])),
  model: isText,
  query: isText,
  documents: (value, body) => problemOfDocuments(value, body) === undefined,
  top_n: isPositiveInteger,
  top_k: isPositiveInteger,
  return_documents: (value) => BOOLEANS.has(value),
  max_tokens_per_doc: isPositiveInteger,
  priority: (value) => typeof value === 'number' && Number.isFinite(value),
  rank_fields: (value) =>
    Array.isArray(value) && value.length <= MAX_RANK_FIELDS && value.every((field) => typeof field === 'string'),
  truncation: isBoolean,
  parameters: (value) => isObject(value) && Object.keys(value).length <= MAX_PARAMETERS,
};

/** Whether a body breaks no rule of `CreateRerankDto`; null is absence. A spec compares the two. */
export function isRerankBody(body: JsonObject): boolean {
  for (const name of REQUIRED) if (!Object.hasOwn(body, name)) return false;
  for (const name of Object.keys(body)) {
    const check = Object.hasOwn(CHECKS, name) ? CHECKS[name] : undefined;
    if (check === undefined) return false;
    const value = body[name];
    if (value === undefined || value === null ? REQUIRED.has(name) : !check(value, body)) return false;
  }
  return true;
}
