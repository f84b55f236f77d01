import { IDENTITY_HEADERS } from '../../common/http/identity-headers.js';
import type { ForwardHeaders } from '../config/identity-config.js';
import { foldHeaderName, headerNameFacts, isHopByHop, whyNotWritable } from './header-names.js';
import { assertSingleHeaders, connectionOptions, type RawHeader } from './raw-headers.js';

const TRACE_HEADERS = ['traceparent', 'tracestate'] as const;

export interface OutboundHeadersInput {
  /** What the client sent. */
  readonly client: readonly RawHeader[];
  /** Absent: of the client's headers the server gets those of the protocol only. */
  readonly forwardHeaders?: ForwardHeaders | undefined;
  /** Name of this server's identity header. Protected also when no identity is sent. */
  readonly identityHeaderName?: string | undefined;
  /** Header in which this server's users bring their token (`header_key`). */
  readonly tokenHeaderName?: string | undefined;
  /** The server's own session id, taken out of the client's. The client's own header never passes. */
  readonly sessionId?: string | undefined;
  /** Trace context of the call (W3C), for where the client's own may pass, and in its place. Absent: the client's passes as it is. */
  readonly traceContext?: Readonly<Record<string, string>> | undefined;
  /** From the server's configuration. */
  readonly staticHeaders?: Readonly<Record<string, string>> | undefined;
  /** The gateway's own, such as the trace. */
  readonly gatewayHeaders?: Readonly<Record<string, string>> | undefined;
  /** Who the user is. */
  readonly identityHeaders?: Readonly<Record<string, string>> | undefined;
}

/**
 * The headers that an MCP server gets, by lower-case names; for every method and every transport. From the lowest to the highest:
 * the client's, the server's configured ones, the gateway's, the identity. First everything is deleted that the client may
 * not set, then the gateway writes: the other way round, a client could delete what the gateway wrote by naming it in
 * `Connection`.
 * @throws GatewayError `validation_failed` for two headers of which there may be one
 */
export function outboundHeaders(input: OutboundHeadersInput): ReadonlyMap<string, string> {
  assertSingleHeaders(input.client);
  const own = ownNamesOf(input);
  const headers = new OutboundHeaders();
  forward(input, own, headers);
  writeTraceContext(input, headers);
  if (input.sessionId !== undefined) headers.write('mcp-session-id', input.sessionId);
  for (const [name, value] of Object.entries(input.staticHeaders ?? {})) {
    // The configuration refuses such names; a row that came in some other way must not get around that.
    if (!isIdentity(foldHeaderName(name), own) && whyNotWritable(name) === undefined) headers.write(name, value);
  }
  for (const [name, value] of Object.entries(input.gatewayHeaders ?? {})) headers.write(name, value);
  for (const [name, value] of Object.entries(input.identityHeaders ?? {})) headers.write(name, value);
  return headers.byName;
}

/** Headers by names in lower case. */
class OutboundHeaders {
  readonly byName = new Map<string, string>();
  /** Whether a name among them is not spelled as it is compared. */
  private hasUnfolded = false;

  /** RFC 9110, section 5.3: several fields of one name are one list. */
  forward({ name, value }: RawHeader, isFolded: boolean): void {
    const earlier = this.byName.get(name);
    this.byName.set(name, earlier === undefined ? value : `${earlier}, ${value}`);
    this.hasUnfolded ||= !isFolded;
  }

  /** Replaces what a lower level has under a name that a server could take for the same. */
  write(name: string, value: string): void {
    const folded = foldHeaderName(name);
    this.byName.delete(folded);
    if (this.hasUnfolded) {
      for (const earlier of this.byName.keys()) if (foldHeaderName(earlier) === folded) this.byName.delete(earlier);
    }
    if (isHopByHop(folded)) return;
    const lower = name.toLowerCase();
    this.byName.set(lower, value);
    this.hasUnfolded ||= lower !== folded;
  }
}

/** Folded names that are this server's identity, besides those that always are one. */
function ownNamesOf({ identityHeaders, identityHeaderName }: OutboundHeadersInput): readonly string[] {
  const own = Object.keys(identityHeaders ?? {}).map(foldHeaderName);
  if (identityHeaderName !== undefined) own.push(foldHeaderName(identityHeaderName));
  return own;
}

/** Whether it could be read as an identity. */
function isIdentity(folded: string, own: readonly string[]): boolean {
  return IDENTITY_HEADERS.has(folded) || own.includes(folded);
}

function forward(input: OutboundHeadersInput, own: readonly string[], headers: OutboundHeaders): void {
  const listed = connectionOptions(input.client);
  const mayPass = ruleOf(input.forwardHeaders);
  const token = input.tokenHeaderName === undefined ? undefined : foldHeaderName(input.tokenHeaderName);
  for (const header of input.client) {
    const { name } = header;
    // Those that are always an identity are never forwarded.
    const { folded, isNeverForwarded, isProtocol } = headerNameFacts(name);
    if (isNeverForwarded || own.includes(folded) || folded === token) continue;
    if (name === 'mcp-session-id' || listed.has(name)) continue;
    // With other characters than these, two names may be one to the server.
    if (isProtocol || (name === folded && mayPass(name))) headers.forward(header, name === folded);
  }
}

/** The client's `traceparent` names the client's span: passed on, the server's work would appear beside the gateway's, not below it. */
function writeTraceContext({ traceContext, forwardHeaders }: OutboundHeadersInput, headers: OutboundHeaders): void {
  if (traceContext === undefined) return;
  const mayPass = ruleOf(forwardHeaders);
  for (const name of TRACE_HEADERS) {
    headers.byName.delete(name);
    const value = traceContext[name];
    // `tracestate` says nothing without the other.
    if (value !== undefined && mayPass(name) && mayPass('traceparent')) headers.write(name, value);
  }
}

function ruleOf(rule: ForwardHeaders | undefined): (name: string) => boolean {
  if (rule === undefined) return () => false;
  const named = new Set(rule.headers.map(foldHeaderName));
  switch (rule.mode) {
    case 'allowlist':
      return (name) => named.has(name);
    case 'all-except':
      return (name) => !named.has(name);
    default:
      // A mode of a later version forwards nothing here.
      return () => false;
  }
}
