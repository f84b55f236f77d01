import { foldName, IDENTITY_HEADERS, isHopByHop } from './header-names.js';
import { connectionOptions, type RawHeader } from './raw-headers.js';

/** What a server's answer may not do in the gateway's name: set cookies and rules for its origin, or answer for its CORS. */
const NEVER_RETURNED: ReadonlySet<string> = new Set([
  'alt-svc',
  'clear-site-data',
  'location',
  'proxy-authentication-info',
  'public-key-pins',
  'refresh',
  'server',
  'set-cookie',
  'set-cookie2',
  'strict-transport-security',
]);
const NEVER_RETURNED_PREFIXES = ['access-control-', 'x-gateway-', 'x-portkey-'] as const;
const RESOURCE_METADATA = /\bresource_metadata\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s,]*)/i;

export interface InboundHeadersInput {
  /** What the server answered. */
  readonly server: readonly RawHeader[];
  readonly identityHeaderName?: string | undefined;
  /**
   * Address of the gateway's own metadata of this server (RFC 9728). Only where the server judges the user's token by itself
   * (`bearer`): its challenge then reaches the client, which compares the metadata with the address that it called.
   */
  readonly resourceMetadata?: string | undefined;
}

/** The headers of a server's answer that go to the client, in their order, duplicates kept. */
export function inboundHeaders(input: InboundHeadersInput): readonly RawHeader[] {
  const listed = connectionOptions(input.server);
  const own = input.identityHeaderName === undefined ? undefined : foldName(input.identityHeaderName);
  return input.server.flatMap((header) => {
    const folded = foldName(header.name);
    if (listed.has(header.name) || folded === own || isNeverReturned(folded)) return [];
    if (folded !== 'www-authenticate') return [header];
    if (input.resourceMetadata === undefined) return [];
    return [{ ...header, value: withResourceMetadata(header.value, input.resourceMetadata) }];
  });
}

function isNeverReturned(folded: string): boolean {
  return (
    isHopByHop(folded) ||
    IDENTITY_HEADERS.has(folded) ||
    NEVER_RETURNED.has(folded) ||
    NEVER_RETURNED_PREFIXES.some((prefix) => folded.startsWith(prefix))
  );
}

/** The server's challenge with our metadata in place of its own; every other parameter stays (`scope`, `error`). */
function withResourceMetadata(challenge: string, url: string): string {
  const parameter = `resource_metadata="${url}"`;
  if (RESOURCE_METADATA.test(challenge)) return challenge.replace(RESOURCE_METADATA, () => parameter);
  if (!/^Bearer\b/i.test(challenge)) return challenge;
  return /^Bearer\s*$/i.test(challenge) ? `Bearer ${parameter}` : `${challenge}, ${parameter}`;
}
