import { GatewayError } from '../../common/errors/gateway.error.js';

/** Of path and query. Sealed they are a third longer, and Node takes 16 KiB of address and headers altogether. */
const MAX_ENDPOINT_CHARACTERS = 4_096;
const SESSION_PARAM = 'sessionId';

/** Binds a text to the caller and the server, and gets it back; `open` throws for what was not made by `seal` for them. */
export interface AddressSeal {
  seal(text: string): string;
  open(sealed: string): string;
}

/**
 * The address that the older HTTP+SSE transport gives a client for its messages, in our form. The server's own address
 * travels in it, bound to the caller as a session id is: no replica has to remember it.
 * @param endpoint as the server sent it, relative to `serverUrl` or not
 * @param messagesPath where this gateway takes messages for the server
 * @throws GatewayError `provider_invalid_response` when it is too long, or not at the server's own origin
 */
export function clientEndpoint(
  endpoint: string,
  serverUrl: URL,
  messagesPath: string,
  seal: Pick<AddressSeal, 'seal'>,
): string {
  const { pathname, search } = sameOrigin(endpoint, serverUrl);
  const path = pathname + search;
  if (path.length > MAX_ENDPOINT_CHARACTERS) throw tooLong();
  const sealed = seal.seal(Buffer.from(path).toString('base64url'));
  return `${messagesPath}?${SESSION_PARAM}=${encodeURIComponent(sealed)}`;
}

/**
 * Where a message goes: the address inside of the `sessionId` of its query.
 * @throws GatewayError `not_found`, one for all that is wrong, or what `open` throws
 */
export function messageTarget(query: URLSearchParams, serverUrl: URL, seal: Pick<AddressSeal, 'open'>): URL {
  const [sealed, ...others] = query.getAll(SESSION_PARAM);
  if (sealed === undefined || others.length > 0) throw unknownSession();
  const path = Buffer.from(seal.open(sealed), 'base64url').toString('utf8');
  // Not `//host/…`, which would be another origin.
  if (!/^\/(?!\/)/.test(path)) throw unknownSession();
  return sameOrigin(path, serverUrl);
}

function sameOrigin(reference: string, serverUrl: URL): URL {
  const url = URL.canParse(reference, serverUrl.href) ? new URL(reference, serverUrl) : undefined;
  if (url && url.origin === serverUrl.origin && url.username === '' && url.password === '') return url;
  throw new GatewayError('provider_invalid_response', {
    message: 'The MCP server names an address for messages that is not its own.',
    reason: 'legacy endpoint of another origin',
  });
}

function tooLong(): GatewayError {
  return new GatewayError('provider_invalid_response', {
    message: `The MCP server names an address for messages of more than ${MAX_ENDPOINT_CHARACTERS} characters.`,
    reason: 'legacy endpoint too long',
  });
}

function unknownSession(): GatewayError {
  return new GatewayError('not_found', { message: 'The session does not exist.' });
}
