import { walkFields } from '../common/json/fields.js';

/** Providers may turn to these when the model does not answer. */
const OTHER_MODELS: ReadonlySet<string> = new Set(['models', 'fallbacks']);

/** Whether a body names models besides its own. */
export function namesOtherModels(body: Buffer): boolean {
  let found = false;
  const isWhole = walkFields(body, ({ name, depth, isNull }) => {
    found ||= depth === 1 && !isNull && OTHER_MODELS.has(name);
  });
  return found || !isWhole;
}
