const MASK = '****';
const SHOWN_CHARACTERS = 4;
/** Shorter secrets would lose too much of what makes them secret by showing four characters. */
const SHOW_END_FROM_LENGTH = 16;

/** The masked form of a secret: enough to distinguish two secrets, too little to use. */
export function mask(secret: string): string {
  return secret.length >= SHOW_END_FROM_LENGTH ? MASK + secret.slice(-SHOWN_CHARACTERS) : MASK;
}

/** Whether a client sends back the mask of the stored secret. Tools that read, change and write a resource do so. */
export function isMaskOf(value: unknown, secret: string | undefined): boolean {
  return secret !== undefined && value === mask(secret);
}

/**
 * Whether a client sends back the mask of another secret. The mask must never replace the secret, and the client should
 * learn that its copy is outdated.
 */
export function isStaleMask(value: unknown, secret: string | undefined): boolean {
  return hasFormOfMask(value) && !isMaskOf(value, secret);
}

/** The message for a stale mask; it follows the name of the field. */
export function staleMask(toSend = 'the secret itself'): string {
  return `is not what is stored; send ${toSend} to set another value`;
}

function hasFormOfMask(value: unknown): boolean {
  return typeof value === 'string' && value.startsWith(MASK) && value.length <= MASK.length + SHOWN_CHARACTERS;
}
