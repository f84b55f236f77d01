/** Longest text that `scrub` returns. */
export const MAX_SCRUBBED_CHARACTERS = 300;

/** What the patterns read: they are not run over megabytes of foreign text. */
const MAX_READ_CHARACTERS = 8_192;
const REMOVED = '[removed]';

/** Line breaks among them: one event stays one line of the log. */
const BLANKS = /[\s\p{Cc}]+/gu;
/** The first four characters name the kind: AKIA a user's key, ASIA a session's, AROA a role. */
const AWS_IDS = /\bA(?:3T[A-Z0-9]|BIA|CCA|GPA|IDA|IPA|KIA|NPA|NVA|PKA|ROA|SCA|SIA)[A-Z0-9]{12,}/g;
const AUTHORIZATION = /\b(Bearer|Basic) [\w.~+/=-]{8,}/gi;
/** Three parts of base64url of which the first begins `{"`; also when the end was cut off. */
const JSON_WEB_TOKENS = /\beyJ[\w-]{5,}(?:\.[\w-]*){0,4}/g;
/** Service, batch and recovery tokens, today's form and the one before Vault 1.10. */
const VAULT_TOKENS = /\b(?:hv[sbr]\.[\w-]{8,}|[sbr]\.[\w-]{20,})/g;
const LONG_RUNS = /[\w+/~-]{40,}={0,2}/g;
const HEXADECIMAL = /^[0-9a-f]+$/i;

/**
 * A manager's words made fit for the log: without the given secrets, without what looks like a key or a token, on one
 * line of at most MAX_SCRUBBED_CHARACTERS characters.
 */
export function scrub(text: string, secrets: readonly string[]): string {
  const clean = beginningOf(withoutSecrets(text, secrets))
    .replace(BLANKS, ' ')
    .trim()
    .replace(AUTHORIZATION, `$1 ${REMOVED}`)
    .replace(JSON_WEB_TOKENS, REMOVED)
    .replace(VAULT_TOKENS, REMOVED)
    .replace(AWS_IDS, REMOVED)
    .replace(LONG_RUNS, (run) => (looksRandom(run) ? REMOVED : run));
  return clean.length <= MAX_SCRUBBED_CHARACTERS ? clean : `${clean.slice(0, MAX_SCRUBBED_CHARACTERS - 1)}…`;
}

/** In one pass, so that a short secret cannot be found in the mark that took the place of another. */
function withoutSecrets(text: string, secrets: readonly string[]): string {
  const forms = [...new Set(secrets.flatMap(formsOf))].filter((form) => form !== '');
  if (forms.length === 0) return text;
  // The longest first: of two that begin alike, the rest of the longer one would be left.
  const patterns = forms
    .sort((a, b) => b.length - a.length)
    .map((form) => form.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'));
  return text.replace(new RegExp(patterns.join('|'), 'g'), REMOVED);
}

/** As it is, and as an answer may quote it: inside of JSON, of a form, of base64. */
function formsOf(secret: string): readonly string[] {
  const base64 = Buffer.from(secret, 'utf8').toString('base64');
  return [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret), base64, base64.replace(/=+$/, '')];
}

/** Cut between two words: the patterns would not know half a token. */
function beginningOf(text: string): string {
  if (text.length <= MAX_READ_CHARACTERS) return text;
  const beginning = text.slice(0, MAX_READ_CHARACTERS);
  return beginning.slice(0, Math.max(0, beginning.lastIndexOf(' ')));
}

/** Names and paths are long as well, but seldom mix both cases with digits. */
function looksRandom(run: string): boolean {
  return HEXADECIMAL.test(run) || (/[a-z]/.test(run) && /[A-Z]/.test(run) && /\d/.test(run));
}
