import { ValidateBy, type ValidationArguments } from 'class-validator';
import { isObject } from '../../common/json/read.js';

/**
 * At least one document, each a string or an object with a string `text`. Objects may do without `text` when `rank_fields`
 * names other fields. One rule for the whole array: a rule for each item costs a thousand times as much.
 */
export function AreDocuments(): PropertyDecorator {
  return ValidateBy({
    name: 'areDocuments',
    validator: {
      validate: (value: unknown, args?: ValidationArguments) => problemOfDocuments(value, args?.object) === undefined,
      defaultMessage: (args?: ValidationArguments) =>
        `documents${problemOfDocuments(args?.value, args?.object) ?? ' is valid'}`,
    },
  });
}

/** Describes the first wrong document, as text that follows `documents`; undefined when all are valid. */
export function problemOfDocuments(documents: unknown, body: unknown): string | undefined {
  if (!Array.isArray(documents)) return ' must be an array';
  if (documents.length === 0) return ' must have at least 1 item';
  const needsText = !hasRankFields(body);
  for (let index = 0; index < documents.length; index += 1) {
    const document: unknown = documents[index];
    if (typeof document === 'string') continue;
    if (!isObject(document)) return `.${index} must be a string or an object`;
    const { text } = document;
    if (text === undefined ? needsText : typeof text !== 'string') return `.${index}.text must be a string`;
  }
  return undefined;
}

function hasRankFields(body: unknown): boolean {
  return isObject(body) && Array.isArray(body['rank_fields']) && body['rank_fields'].length > 0;
}
