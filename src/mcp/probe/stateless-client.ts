// Probes servers of MCP revision 2026-07-28 and later: no handshake and no session, every request names its revision. Sources: the pages "Versioning",
// "Streamable HTTP" and "Discovery" of that revision at modelcontextprotocol.io, read 2026-11-21.
import { GatewayError } from '../../common/errors/gateway.error.js';
import { isObject, type JsonObject, stringOrUndefined } from '../../common/json/read.js';
import { isRevision, isStateless, STATELESS_REVISION } from '../protocol-revision.js';
import { readSeenTool } from '../servers/seen-tool.js';
import {
  CLIENT_INFO,
  errorCodeForStatus,
  type ProbeResult,
  type ProbeTransport,
  type ToolAnswer,
  type ToolRequest,
} from './probe.types.js';
import { postRpc, type RpcAnswer } from './rpc-post.js';
import { gatherTools, type ToolList } from './tool-pages.js';

const META = 'io.modelcontextprotocol/';
/** Errors that only stateless servers return: for the headers, for a capability, for the revision. */
const UNSUPPORTED_REVISION = -32_022;
const ERRORS_OF_ERA: readonly unknown[] = [-32_020, -32_021, UNSUPPORTED_REVISION];
/** Statuses with which older servers refuse an unknown request, without JSON-RPC. Other statuses prove nothing. */
const OTHER_REFUSALS: readonly number[] = [400, 404, 405, 406, 415, 422];
const MAX_REVISIONS = 32;
const MAX_NAME_CHARACTERS = 255;

/** A server's answer to `server/discover`. */
export interface Discovery {
  readonly revisions: readonly string[];
  readonly hasTools: boolean;
  readonly server: ProbeResult['server'];
}

/**
 * Asks a server to describe itself. Undefined when its answer shows that it needs a handshake; silence, failure and refused
 * credentials do not show that.
 * @throws GatewayError
 */
export async function discover(url: URL, probe: ProbeTransport): Promise<Discovery | undefined> {
  const answer = await ask(url, probe, 'server/discover');
  const discovery = readDiscovery(answer.message?.['result']);
  if (discovery !== undefined) return discovery;
  const error = errorIn(answer);
  if (ERRORS_OF_ERA.includes(error['code']) && !isOnlyOfOtherEra(error)) {
    throw new GatewayError('provider_rejected', { reason: 'the server does not speak this stateless revision of MCP' });
  }
  const { status, mediaType, message } = answer;
  const isRefusal = status !== 401 && status !== 403 && (message !== undefined || OTHER_REFUSALS.includes(status));
  if (status >= 300 && !isRefusal) {
    throw new GatewayError(errorCodeForStatus(status), { reason: `upstream ${status}`, provider: { status } });
  }
  // An empty answer may come from a server that does not know the request. A page does not come from an MCP server.
  if (status < 300 && message === undefined && mediaType !== '') {
    throw new GatewayError('provider_invalid_response', { reason: 'no response of JSON-RPC' });
  }
  return undefined;
}

/** @throws GatewayError */
export async function listTools(url: URL, probe: ProbeTransport): Promise<ToolList> {
  return gatherTools(async (cursor) => {
    const answer = await ask(url, probe, 'tools/list', cursor === undefined ? {} : { cursor });
    const result = answer.message?.['result'];
    if (!isObject(result) || !Array.isArray(result['tools'])) throw refusalOf(answer);
    return {
      tools: result['tools'].flatMap((tool: unknown) => readSeenTool(tool) ?? []),
      nextCursor: stringOrUndefined(result['nextCursor']),
    };
  });
}

/** @throws GatewayError for an answer that is not one of JSON-RPC */
export async function callTool(url: URL, probe: ProbeTransport, { params, onSend }: ToolRequest): Promise<ToolAnswer> {
  onSend();
  const answer = await ask(url, probe, 'tools/call', { ...params }, { 'mcp-name': headerText(params.name) });
  const result = answer.message?.['result'];
  if (isObject(result)) return { result };
  const { code, message } = errorIn(answer);
  if (typeof code !== 'number') throw refusalOf(answer);
  return { error: { code, message: stringOrUndefined(message) ?? '' } };
}

/** In the encoding of the protocol, where a header cannot hold the text. */
function headerText(text: string): string {
  const isPlain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith('=?');
  return isPlain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

function ask(
  url: URL,
  probe: ProbeTransport,
  method: string,
  params: JsonObject = {},
  more: Readonly<Record<string, string>> = {},
): Promise<RpcAnswer> {
  return postRpc(url, probe, {
    method,
    params: {
      ...params,
      _meta: {
        [`${META}protocolVersion`]: STATELESS_REVISION,
        [`${META}clientInfo`]: CLIENT_INFO,
        [`${META}clientCapabilities`]: {},
      },
    },
    headers: { 'mcp-protocol-version': STATELESS_REVISION, 'mcp-method': method, ...more },
  });
}

function readDiscovery(result: unknown): Discovery | undefined {
  if (!isObject(result) || !Array.isArray(result['supportedVersions'])) return undefined;
  const { supportedVersions, capabilities, _meta: meta, serverInfo } = result;
  const info = isObject(meta) ? (meta[`${META}serverInfo`] ?? serverInfo) : serverInfo;
  const revisions = readRevisions(supportedVersions);
  if (revisions.length === 0) return undefined;
  return {
    revisions,
    hasTools: isObject(capabilities) && capabilities['tools'] !== undefined,
    server: readServer(info),
  };
}

function readServer(info: unknown): Discovery['server'] {
  const name = isObject(info) ? stringOrUndefined(info['name']) : undefined;
  if (!isObject(info) || name === undefined) return null;
  const version = stringOrUndefined(info['version']) ?? '';
  return { name: name.slice(0, MAX_NAME_CHARACTERS), version: version.slice(0, MAX_NAME_CHARACTERS) };
}

/** The valid revisions in a list, up to a limit. */
export function readRevisions(given: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(given) ? given : [];
  return list
    .filter((revision): revision is string => typeof revision === 'string' && isRevision(revision))
    .slice(0, MAX_REVISIONS);
}

function errorIn({ message }: RpcAnswer): JsonObject {
  const error = message?.['error'];
  return isObject(error) ? error : {};
}

/** A server may know the stateless revisions and still support only older ones. */
function isOnlyOfOtherEra({ code, data }: JsonObject): boolean {
  const supported = readRevisions(isObject(data) ? data['supported'] : undefined);
  return code === UNSUPPORTED_REVISION && supported.length > 0 && supported.every((revision) => !isStateless(revision));
}

function refusalOf(answer: RpcAnswer): GatewayError {
  const { status, message } = answer;
  const isRefusal = message?.['error'] !== undefined;
  if (status < 300) return new GatewayError(isRefusal ? 'provider_rejected' : 'provider_invalid_response');
  return new GatewayError(isRefusal ? 'provider_rejected' : errorCodeForStatus(status), { provider: { status } });
}
