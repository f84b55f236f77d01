import { scrub } from '../common/scrub.js';

const MASK = '****';
/** Shorter ones are ordinary words, and too weak to be secrets. */
const WORD = /[^\s"'`,;:()<>=&?[\]{}]{6,}/g;
const DECORATION = /^[.!*]+|[.!*]+$/g;
const MIN_LENGTH = 4;

/**
 * A provider's words made fit for the log, on one short line: without secrets and parts of them, without what looks like a token,
 * and without words of the request, which a provider may repeat.
 * @param sent the body of the request
 */
export function wordsForLog(text: string, secrets: readonly string[], sent?: Buffer): string {
  return scrub(text, secrets).replace(WORD, (word) => {
    const bare = word.replace(DECORATION, '');
    if (bare.length < MIN_LENGTH) return word;
    const isSecret = secrets.some((secret) => secret.includes(bare));
    return isSecret || (sent?.includes(bare) === true && !sent.includes(`"${bare}":`)) ? MASK : word;
  });
}
