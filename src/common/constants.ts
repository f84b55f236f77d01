/** The version of the gateway. Must equal the one in package.json. */
export const VERSION = '0.1.0';

/** Characters that every header accepts, without spaces: for ids, tokens and keys. RFC 9110, section 5.5 (VCHAR). */
export const VISIBLE_ASCII = /^[\x21-\x7e]+$/;
/** Options of `@Matches(VISIBLE_ASCII)`. */
export const VISIBLE_ASCII_OPTIONS = { message: '$property must have printable ASCII characters, and no spaces' };

/** Limits of request metadata: the length of a name or value in UTF-16 units, and the number of entries. */
export const MAX_METADATA_LENGTH = 128;
export const MAX_METADATA_KEYS = 32;

/**
 * Headers that carry the user's identity to MCP servers: default names, in lower case. Only the gateway sets them,
 * whatever the configuration of a server says.
 */
export const IDENTITY_HEADERS: ReadonlySet<string> = new Set(['x-user-claims', 'x-user-jwt']);

/** The names of this machine, as URLs spell them. Without MCP_PUBLIC_URL, MCP clients use these. */
export const LOCAL_HOSTS = ['localhost', '127.0.0.1', '[::1]'] as const;
