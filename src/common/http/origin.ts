/** Scheme, host and port of an address; undefined: it is none. */
export function originOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).origin : undefined;
}

/** As a browser spells it: scheme, host, port where it is not the usual one, and nothing else. */
export function isWebOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}
