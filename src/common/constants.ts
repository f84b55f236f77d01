/** The gateway's own, as in package.json. */
export const VERSION = '0.1.0';

/** Characters that any header takes, without blanks: of ids, tokens and keys. RFC 9110, section 5.5 (VCHAR). */
export const VISIBLE_ASCII = /^[\x21-\x7e]+$/;

/** Of the metadata of a request: names and values, each in UTF-16 units, and how many of them. */
export const MAX_METADATA_LENGTH = 128;
export const MAX_METADATA_KEYS = 32;

/**
 * Headers by which MCP servers are told who the user is, by their default names, in lower case: only the gateway sets them,
 * whatever a server's configuration says.
 */
export const IDENTITY_HEADERS: ReadonlySet<string> = new Set(['x-user-claims', 'x-user-jwt']);
