/** Longest id that is read: a job's ARN has at most a few hundred characters. */
const MAX_CHARACTERS = 2_048;

/** An id that carries a provider's own name of an object, fit for a path segment: the prefix and base64url. */
export function toOpaqueId(prefix: string, name: string): string {
  return prefix + Buffer.from(name, 'utf8').toString('base64url');
}

/** The name inside an id; undefined when this gateway did not make the id. Says nothing about what the name is. */
export function fromOpaqueId(prefix: string, id: string): string | undefined {
  if (id.length > MAX_CHARACTERS || !id.startsWith(prefix)) return undefined;
  const name = Buffer.from(id.slice(prefix.length), 'base64url').toString('utf8');
  // The decoder skips what it does not know: only the one spelling that is written above counts.
  return name !== '' && toOpaqueId(prefix, name) === id ? name : undefined;
}
