import { foldId } from '../uuid.js';

/** A claim that lists words: an array of strings, or one string with spaces between them. */
export function claimWords(claim: unknown): readonly string[] {
  if (typeof claim === 'string') return claim.split(' ').filter((word) => word !== '');
  return Array.isArray(claim) ? claim.filter((item) => typeof item === 'string') : [];
}

/** The same for ids, each once and in the spelling that is stored. */
export function claimIds(claim: unknown): readonly string[] {
  return [...new Set(claimWords(claim).map(foldId))];
}
