const MASK = '****';
const SHOWN_CHARACTERS = 4;
/** Shorter secrets would lose too much of what makes them secret by showing four characters. */
const SHOW_END_FROM_LENGTH = 16;

/** What is shown of a secret: enough to tell two apart, too little to use. */
export function mask(secret: string): string {
  return secret.length >= SHOW_END_FROM_LENGTH ? MASK + secret.slice(-SHOWN_CHARACTERS) : MASK;
}

/** Whether a client sends back what it was shown, as tools do that read, change and write a resource. */
export function isMaskOf(value: unknown, secret: string | undefined): boolean {
  return secret !== undefined && value === mask(secret);
}

/**
 * Whether a client sends back what it was shown of another secret than the stored one. It must never be stored in the place of
 * the secret, and the client should know that it saw an older one.
 */
export function isStaleMask(value: unknown, secret: string | undefined): boolean {
  return hasFormOfMask(value) && !isMaskOf(value, secret);
}

/** What is wrong with a stale mask; reads on from the name of its field. */
export function staleMask(toSend = 'the secret itself'): string {
  return `is not what is stored; send ${toSend} to set another value`;
}

function hasFormOfMask(value: unknown): boolean {
  return typeof value === 'string' && value.startsWith(MASK) && value.length <= MASK.length + SHOWN_CHARACTERS;
}
