import { IDENTITY_HEADERS } from '../../common/constants.js';
import type { ForwardHeaders } from '../config/identity-config.js';
import { foldHeaderName, headerNameFacts, isHopByHop, whyNotWritable } from './header-names.js';
import { assertSingleHeaders, connectionOptions, type RawHeader } from './raw-headers.js';

const TRACE_HEADERS = ['traceparent', 'tracestate'] as const;

export interface OutboundHeadersInput {
  /** As the client sent them. */
  readonly client: readonly RawHeader[];
  /** Absent: of the client's headers, the server gets only those of the protocol. */
  readonly forwardHeaders?: ForwardHeaders | undefined;
  /** Name of this server's identity header. Protected even when no identity is sent. */
  readonly identityHeaderName?: string | undefined;
  /** Header of this server's user tokens (`header_key`). */
  readonly tokenHeaderName?: string | undefined;
  /** The server's own session id, unbound from the client's. The client's own header is never forwarded. */
  readonly sessionId?: string | undefined;
  /** Trace context of the call (W3C). Replaces the client's, where that would be forwarded. Absent: the client's is forwarded unchanged. */
  readonly traceContext?: Readonly<Record<string, string>> | undefined;
  /** From the server's configuration. */
  readonly staticHeaders?: Readonly<Record<string, string>> | undefined;
  /** The gateway's own, such as the trace id. */
  readonly gatewayHeaders?: Readonly<Record<string, string>> | undefined;
  /** The identity of the user. */
  readonly identityHeaders?: Readonly<Record<string, string>> | undefined;
}

/**
 * The headers that an MCP server gets, by lower-case names, for every method and every transport. Later ones replace earlier ones:
 * the client's, the server's configured ones, the gateway's, the identity. Protected headers are removed before the gateway writes:
 * otherwise a client could remove a header of the gateway by naming it in `Connection`.
 * @throws GatewayError `validation_failed` for a header that is sent twice and must not be
 */
export function outboundHeaders(input: OutboundHeadersInput): ReadonlyMap<string, string> {
  assertSingleHeaders(input.client);
  const own = ownNamesOf(input);
  const headers = new OutboundHeaders();
  forward(input, own, headers);
  writeTraceContext(input, headers);
  if (input.sessionId !== undefined) headers.write('mcp-session-id', input.sessionId);
  for (const [name, value] of Object.entries(input.staticHeaders ?? {})) {
    // The API refuses such names; a row that was written in another way must not bypass that.
    if (!isIdentity(foldHeaderName(name), own) && whyNotWritable(name) === undefined) headers.write(name, value);
  }
  for (const [name, value] of Object.entries(input.gatewayHeaders ?? {})) headers.write(name, value);
  for (const [name, value] of Object.entries(input.identityHeaders ?? {})) headers.write(name, value);
  return headers.byName;
}

/** Headers by names in lower case. */
class OutboundHeaders {
  readonly byName = new Map<string, string>();
  /** Whether a name differs from its folded form. */
  private hasUnfolded = false;

  /** RFC 9110, section 5.3: several fields of one name are one list. */
  forward({ name, value }: RawHeader, isFolded: boolean): void {
    const earlier = this.byName.get(name);
    this.byName.set(name, earlier === undefined ? value : `${earlier}, ${value}`);
    this.hasUnfolded ||= !isFolded;
  }

  /** Replaces every header of a lower level whose name a server could confuse with this one. */
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

/** Folded names of this server's identity headers, besides the ones that are always protected. */
function ownNamesOf({ identityHeaders, identityHeaderName }: OutboundHeadersInput): readonly string[] {
  const own = Object.keys(identityHeaders ?? {}).map(foldHeaderName);
  if (identityHeaderName !== undefined) own.push(foldHeaderName(identityHeaderName));
  return own;
}

/** Whether a server could read the header as an identity. */
function isIdentity(folded: string, own: readonly string[]): boolean {
  return IDENTITY_HEADERS.has(folded) || own.includes(folded);
}

function forward(input: OutboundHeadersInput, own: readonly string[], headers: OutboundHeaders): void {
  const listed = connectionOptions(input.client);
  const mayPass = ruleOf(input.forwardHeaders);
  const token = input.tokenHeaderName === undefined ? undefined : foldHeaderName(input.tokenHeaderName);
  for (const header of input.client) {
    const { name } = header;
    // `isNeverForwarded` includes the headers that are always an identity.
    const { folded, isNeverForwarded, isProtocol } = headerNameFacts(name);
    if (isNeverForwarded || own.includes(folded) || folded === token) continue;
    if (name === 'mcp-session-id' || listed.has(name)) continue;
    // With other characters than those of a folded name, a server may see two names as one.
    if (isProtocol || (name === folded && mayPass(name))) headers.forward(header, name === folded);
  }
}

/** The client's `traceparent` names the client's span: the server's work would appear beside the gateway's span, not below it. */
function writeTraceContext({ traceContext, forwardHeaders }: OutboundHeadersInput, headers: OutboundHeaders): void {
  if (traceContext === undefined) return;
  const mayPass = ruleOf(forwardHeaders);
  for (const name of TRACE_HEADERS) {
    headers.byName.delete(name);
    const value = traceContext[name];
    // `tracestate` is meaningless without `traceparent`.
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
      // An unknown mode, of a later version, forwards nothing.
      return () => false;
  }
}
