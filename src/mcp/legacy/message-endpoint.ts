import { GatewayError } from '../../common/errors/gateway.error.js';

/** Of path and query. Sealing adds a third, and Node accepts 16 KiB of address and headers in total. */
const MAX_ENDPOINT_CHARACTERS = 4_096;
const SESSION_PARAM = 'sessionId';

/** Binds a text to the caller and the server. `open` throws for a text that was not sealed for them. */
export interface AddressSeal {
  seal(text: string): string;
  open(sealed: string): string;
}

/**
 * The server's own address for the client's messages, as a path.
 * @param endpoint as the server sent it, relative to `serverUrl` or not
 * @throws GatewayError `provider_invalid_response` when it is too long, or not at the server's own origin
 */
export function messagePath(endpoint: string, serverUrl: URL): string {
  const path = pathOf(sameOrigin(endpoint, serverUrl));
  if (path.length > MAX_ENDPOINT_CHARACTERS) throw tooLong();
  return path;
}

export function pathOf({ pathname, search }: URL): string {
  return pathname + search;
}

/**
 * The gateway's address for the client's messages on the older transport (HTTP+SSE). It contains the server's own address, bound to
 * the caller as a session id is, so that no replica has to store it.
 * @param path `messagePath` of the server
 * @param messagesPath path of the gateway for messages to the server
 */
export function clientEndpoint(path: string, messagesPath: string, seal: Pick<AddressSeal, 'seal'>): string {
  const sealed = seal.seal(Buffer.from(path).toString('base64url'));
  return `${messagesPath}?${SESSION_PARAM}=${encodeURIComponent(sealed)}`;
}

/**
 * The server's address for a message, from the `sessionId` of its query.
 * @throws GatewayError `not_found` for every invalid address, and whatever `open` throws
 */
export function messageTarget(query: URLSearchParams, serverUrl: URL, seal: Pick<AddressSeal, 'open'>): URL {
  const [sealed, ...others] = query.getAll(SESSION_PARAM);
  if (sealed === undefined || others.length > 0) throw unknownSession();
  const path = Buffer.from(seal.open(sealed), 'base64url').toString('utf8');
  // `//host/…` would be another origin.
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
