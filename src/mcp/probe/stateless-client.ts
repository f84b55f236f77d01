// MCP from revision 2026-07-28 on: no handshake and no session, every request says its revision. Sources: the pages "Versioning",
// "Streamable HTTP" and "Discovery" of that revision at modelcontextprotocol.io, read 2026-11-21.
import { GatewayError } from '../../common/errors/gateway.error.js';
import { isObject, type JsonObject, stringOrUndefined } from '../../common/json/read.js';
import { isRevision, isStateless, STATELESS_REVISION } from '../protocol-revision.js';
import type { SeenTool } from '../servers/mcp-server-tool.store.js';
import { CLIENT_INFO } from './client-info.js';
import { errorCodeForStatus } from './error-code-for-status.js';
import type { Approach, ProbeResult } from './probe-result.js';
import { postRpc, type RpcAnswer } from './rpc-post.js';
import { gatherTools, type ToolList } from './tool-pages.js';

const META = 'io.modelcontextprotocol/';
/** Errors that only servers of this era have: for the headers, for a capability, for the revision. */
const UNSUPPORTED_REVISION = -32_022;
const ERRORS_OF_ERA: readonly unknown[] = [-32_020, -32_021, UNSUPPORTED_REVISION];
/** With these, without a word of JSON-RPC, a server of the other era refuses what it does not know. Others say nothing of eras. */
const OTHER_REFUSALS: readonly number[] = [400, 404, 405, 406, 415, 422];
const MAX_REVISIONS = 32;
const MAX_NAME_CHARACTERS = 255;

/** What a server says when it is asked to be discovered. */
export interface Discovery {
  readonly revisions: readonly string[];
  readonly hasTools: boolean;
  readonly server: ProbeResult['server'];
}

/**
 * Asks a server to describe itself. Undefined when its answer shows that it is of the era of handshakes: silence, failure and
 * refused credentials show nothing.
 * @throws GatewayError
 */
export async function discover(url: URL, approach: Approach): Promise<Discovery | undefined> {
  const answer = await ask(url, approach, 'server/discover');
  const discovery = readDiscovery(answer.message?.['result']);
  if (discovery !== undefined) return discovery;
  const error = errorIn(answer);
  if (ERRORS_OF_ERA.includes(error['code']) && !isOnlyOfOtherEra(error)) {
    throw new GatewayError('provider_rejected', { reason: 'the server does not speak this stateless revision of MCP' });
  }
  const { status, mediaType, message } = answer;
  const isRefusal = status !== 401 && status !== 403 && (message !== undefined || OTHER_REFUSALS.includes(status));
  if (status >= 300 && !isRefusal) throw new GatewayError(errorCodeForStatus(status), { reason: `upstream ${status}` });
  // An empty answer may be that of a server that does not know what it was asked; a page is that of no MCP server.
  if (status < 300 && message === undefined && mediaType !== '') {
    throw new GatewayError('provider_invalid_response', { reason: 'no response of JSON-RPC' });
  }
  return undefined;
}

/** @throws GatewayError */
export async function listTools(url: URL, approach: Approach): Promise<ToolList> {
  return gatherTools(async (cursor) => {
    const answer = await ask(url, approach, 'tools/list', cursor === undefined ? {} : { cursor });
    const result = answer.message?.['result'];
    if (!isObject(result) || !Array.isArray(result['tools'])) throw refusalOf(answer);
    return { tools: result['tools'].flatMap(readTool), nextCursor: stringOrUndefined(result['nextCursor']) };
  });
}

function ask(url: URL, approach: Approach, method: string, params: JsonObject = {}): Promise<RpcAnswer> {
  return postRpc(url, approach, {
    method,
    params: {
      ...params,
      _meta: {
        [`${META}protocolVersion`]: STATELESS_REVISION,
        [`${META}clientInfo`]: CLIENT_INFO,
        [`${META}clientCapabilities`]: {},
      },
    },
    headers: { 'mcp-protocol-version': STATELESS_REVISION, 'mcp-method': method },
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

/** What is no revision is left out, and so is what goes beyond a sensible number of them. */
export function readRevisions(given: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(given) ? given : [];
  return list
    .filter((revision): revision is string => typeof revision === 'string' && isRevision(revision))
    .slice(0, MAX_REVISIONS);
}

function readTool(tool: unknown): readonly SeenTool[] {
  const name = isObject(tool) ? stringOrUndefined(tool['name']) : undefined;
  if (!isObject(tool) || name === undefined) return [];
  return [{ name, description: stringOrUndefined(tool['description']) }];
}

function errorIn({ message }: RpcAnswer): JsonObject {
  const error = message?.['error'];
  return isObject(error) ? error : {};
}

/** A server may know of this era and still serve revisions of the other one only. */
function isOnlyOfOtherEra({ code, data }: JsonObject): boolean {
  const supported = readRevisions(isObject(data) ? data['supported'] : undefined);
  return code === UNSUPPORTED_REVISION && supported.length > 0 && supported.every((revision) => !isStateless(revision));
}

function refusalOf(answer: RpcAnswer): GatewayError {
  if (answer.message?.['error'] !== undefined) return new GatewayError('provider_rejected');
  return new GatewayError(answer.status < 300 ? 'provider_invalid_response' : errorCodeForStatus(answer.status));
}
