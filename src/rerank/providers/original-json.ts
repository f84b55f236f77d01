import { countMembers } from '../../common/json/scan.js';
import type { RerankRequest } from '../rerank.types.js';

/**
 * The caller's own JSON, for a provider whose form is the gateway's: when it has only fields that the provider takes, and
 * documents that are all text. That saves making the same text again.
 *
 * Each field must come once: of two that have one name the gateway reads the last, and the provider may read the first.
 */
export function originalJson({ original, documents }: RerankRequest, fields: ReadonlySet<string>): Buffer | undefined {
  if (original === undefined) return undefined;
  const { bytes, names } = original;
  if (!names.every((name) => fields.has(name))) return undefined;
  if (!documents.every((document) => typeof document === 'string')) return undefined;
  return countMembers(bytes) === names.length ? bytes : undefined;
}
