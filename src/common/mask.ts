const MASK = '****';
/** Shorter secrets would lose too much of what makes them secret by showing four characters. */
const SHOW_END_FROM_LENGTH = 16;

/** What is shown of a secret: enough to tell two apart, too little to use. */
export function mask(secret: string): string {
  return secret.length >= SHOW_END_FROM_LENGTH ? MASK + secret.slice(-4) : MASK;
}

/** Whether a client sends back what it was shown, as tools do that read, change and write a resource. */
export function isMaskOf(value: unknown, secret: string | undefined): boolean {
  return secret !== undefined && value === mask(secret);
}
