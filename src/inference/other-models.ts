import { walkFields } from '../common/json/fields.js';

/** The members with fallback models. */
const OTHER_MODELS: ReadonlySet<string> = new Set(['models', 'fallbacks']);

/** Whether a body names models besides its own. */
export function namesOtherModels(body: Buffer): boolean {
  let found = false;
  const isWhole = walkFields(body, (field) => {
    found ||= field.depth === 1 && OTHER_MODELS.has(field.name) && !field.isNull;
  });
  return found || !isWhole;
}
