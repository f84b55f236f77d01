// Where a secret lies in Vault: `<mount>/<name>`, and in a KV engine of version 2 `<mount>/data/<name>`.

const CONTROL = /\p{Cc}/u;
/** Halves of surrogate pairs: no URL can hold them. */
const SURROGATE = /\p{Cs}/u;
/** The segment that the API of KV version 2 has between mount and name. */
const DATA = 'data';

/** What is wrong with a secret's path; reads on from the field's name. */
export function vaultPathProblem(path: string): string | undefined {
  if (path.startsWith('/v1/')) return 'must not begin with /v1/: write it as mount/name';
  if (CONTROL.test(path) || SURROGATE.test(path)) return 'must not contain control characters';
  if (/[?#]/.test(path)) return 'must not contain ? or #';
  const segments = path.split('/');
  if (segments.includes('')) return 'must not begin or end with a slash, or have empty segments';
  if (segments.some((segment) => segment === '.' || segment === '..')) return 'must not have dot segments';
  if (segments.length < 2) return 'must name a mount and a secret: mount/name';
  return undefined;
}

/** The path as it goes into a URL. */
export function encodePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

/** The path for reading from a KV engine of version 2, whether or not it has its `data/` already. */
export function toDataPath(path: string, mount: string): string {
  const name = path.slice(mount.length);
  return name.startsWith(`${DATA}/`) ? path : `${mount}${DATA}/${name}`;
}

/** As `toDataPath`, when the mount is unknown: it ends after its first segment, unless a later one is `data` already. */
export function guessDataPath(path: string): string {
  const [mount = '', ...name] = path.split('/');
  return name.slice(0, -1).includes(DATA) ? path : [mount, DATA, ...name].join('/');
}
