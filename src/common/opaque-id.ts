/** The longest accepted id: a job's ARN has at most a few hundred characters. */
const MAX_CHARACTERS = 2_048;

/** An id that contains the provider's name of an object and fits into a path segment: the prefix and base64url. */
export function toOpaqueId(prefix: string, name: string): string {
  return prefix + Buffer.from(name, 'utf8').toString('base64url');
}

/** The name inside an id; undefined when this gateway did not make the id. The caller must validate the name. */
export function fromOpaqueId(prefix: string, id: string): string | undefined {
  if (id.length > MAX_CHARACTERS || !id.startsWith(prefix)) return undefined;
  const name = Buffer.from(id.slice(prefix.length), 'base64url').toString('utf8');
  // The decoder skips unknown characters, so only the canonical spelling is accepted.
  return name !== '' && toOpaqueId(prefix, name) === id ? name : undefined;
}
