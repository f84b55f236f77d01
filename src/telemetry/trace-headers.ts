import { MAX_METADATA_KEYS, MAX_METADATA_LENGTH } from '../common/constants.js';
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { invalidField } from '../common/errors/gateway.error.js';
import { type GatewayHeader, gatewayHeader } from '../common/http/gateway-headers.js';
import { parseExactNumbers, textOfValue } from '../common/json/numbers.js';
import { isObject } from '../common/json/read.js';
import { randomUuidDigits, toUuid } from '../common/uuid.js';

/** The tracing headers of a caller, and what the gateway derives from them. */
export interface TraceHeaders {
  /** The caller's own id as it was sent, or a new UUID. Returned in `x-gateway-trace-id`. */
  readonly traceId: string;
  readonly spanId: string | undefined;
  readonly parentSpanId: string | undefined;
  readonly spanName: string | undefined;
  readonly metadata: Metadata;
  /** W3C Trace Context (https://www.w3.org/TR/trace-context/): trace id, 32 hexadecimal digits. */
  readonly w3cTraceId: string;
  /** 16 hexadecimal digits: the gateway's own span, the parent of the provider's spans. */
  readonly w3cSpanId: string;
  readonly w3cParentId: string | undefined;
  readonly sampled: boolean;
  /** Whether the caller's headers name the trace. */
  readonly isGiven: boolean;
  /** Data of other tracing systems, as the caller sent it with a valid `traceparent`. */
  readonly traceState: string | undefined;
}

/** Headers that place a call in its trace. */
export interface TraceContext extends Readonly<Record<string, string>> {
  readonly traceparent: string;
}

export type Metadata = Readonly<Record<string, string>>;

/** One for all, so that comparing two is cheap. */
const NO_METADATA: Metadata = {};
const MAX_ID_LENGTH = 128;
/** The specification requires this length to be forwarded; longer values may be dropped. */
const MAX_TRACE_STATE_LENGTH = 512;
const SPAN_DIGITS = 16;
const PRINTABLE = /^[\x20-\x7e]+$/;
/** Later versions may have more fields; version 00 has these four. */
const TRACEPARENT = /^(?!ff|00.{54})[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;

/** @throws GatewayError `validation_failed` that names the header */
export function readTraceHeaders(headers: IncomingHttpHeaders): TraceHeaders {
  const { traceparent } = headers;
  const parent = traceparent === undefined ? null : TRACEPARENT.exec(String(traceparent));
  const own = randomUuidDigits();
  const given = readText(headers, 'trace-id') ?? parent?.[1];
  const spanId = readText(headers, 'span-id');
  return {
    traceId: given ?? toUuid(own),
    spanId,
    parentSpanId: readText(headers, 'parent-span-id') ?? parent?.[2],
    spanName: readText(headers, 'span-name'),
    metadata: withSession(readMetadata(headers), headers),
    w3cTraceId: parent?.[1] ?? (given === undefined ? own : toTraceId(given)),
    // 62 random bits, and never all zero.
    w3cSpanId: randomUuidDigits().slice(SPAN_DIGITS),
    w3cParentId: parent?.[2],
    sampled: parent === null || isSampled(parent),
    isGiven: given !== undefined,
    traceState: parent === null ? undefined : readTraceState(headers['tracestate']),
  };
}

/**
 * The trace of a request that names its parent in its body. Undefined when the headers name a trace: they come first; and when
 * `traceparent` is not valid.
 */
export function traceBelow(
  trace: TraceHeaders,
  { traceparent, tracestate }: Partial<TraceContext>,
): TraceHeaders | undefined {
  if (trace.isGiven || traceparent === undefined || traceparent.length > MAX_TRACE_STATE_LENGTH) return undefined;
  const parent = TRACEPARENT.exec(traceparent);
  const [, traceId, spanId] = parent ?? [];
  if (parent === null || traceId === undefined || spanId === undefined) return undefined;
  return {
    ...trace,
    traceId,
    parentSpanId: trace.parentSpanId ?? spanId,
    w3cTraceId: traceId,
    w3cParentId: spanId,
    sampled: isSampled(parent),
    isGiven: true,
    traceState: readTraceState(tracestate),
  };
}

function isSampled(parent: RegExpExecArray): boolean {
  return (Number.parseInt(parent[3] ?? '00', 16) & 1) === 1;
}

function readTraceState(value: string | readonly string[] | undefined): string | undefined {
  if (typeof value !== 'string' || value.length > MAX_TRACE_STATE_LENGTH || !PRINTABLE.test(value)) return undefined;
  return value;
}

/**
 * For headers that `readTraceHeaders` refuses: keeps the valid ids, so that the caller finds the refusal in its trace.
 */
export function salvageTraceHeaders(headers: IncomingHttpHeaders): TraceHeaders {
  const { traceparent, tracestate } = headers;
  try {
    return readTraceHeaders({ traceparent, tracestate, 'x-gateway-trace-id': gatewayHeader(headers, 'trace-id') });
  } catch {
    return readTraceHeaders({ traceparent, tracestate });
  }
}

export function toTraceparent(trace: Pick<TraceHeaders, 'w3cTraceId' | 'w3cSpanId' | 'sampled'>): string {
  return `00-${trace.w3cTraceId}-${trace.w3cSpanId}-${trace.sampled ? '01' : '00'}`;
}

/** For a call that belongs to this request; `traceparent` names the span of the call. */
export function traceContext(traceparent: string, { traceState }: Pick<TraceHeaders, 'traceState'>): TraceContext {
  return traceState === undefined ? { traceparent } : { traceparent, tracestate: traceState };
}

/** A UUID or 32 hexadecimal digits as they are; any other id by its hash, so that equal ids share a trace. */
function toTraceId(id: string): string {
  const digits = id.replaceAll('-', '').toLowerCase();
  if (/^(?!0{32})[0-9a-f]{32}$/.test(digits)) return digits;
  return createHash('sha256').update(id).digest('hex').slice(0, 32);
}

function readText(headers: IncomingHttpHeaders, name: GatewayHeader): string | undefined {
  const value = gatewayHeader(headers, name);
  if (value === undefined) return undefined;
  if (value.length > MAX_ID_LENGTH || !PRINTABLE.test(value)) {
    throw invalidField(`x-gateway-${name}`, `must be 1 to ${MAX_ID_LENGTH} printable ASCII characters`);
  }
  return value;
}

/** The headers with which agents name their session: Codex's, Claude Code's. */
const AGENTS_SESSIONS = ['session_id', 'x-claude-code-session-id'] as const;
const SESSION = 'session';

/**
 * A session that the client names becomes a value of its metadata, so that a usage limit can group by it. What an agent sends for
 * others is not refused.
 */
function withSession(metadata: Metadata, headers: IncomingHttpHeaders): Metadata {
  let session = readText(headers, SESSION);
  for (const name of AGENTS_SESSIONS) {
    const value = headers[name];
    if (typeof value === 'string' && value.length <= MAX_ID_LENGTH && PRINTABLE.test(value)) session ??= value;
  }
  return session === undefined || SESSION in metadata ? metadata : { ...metadata, [SESSION]: session };
}

function readMetadata(headers: IncomingHttpHeaders): Metadata {
  const value = gatewayHeader(headers, 'metadata');
  if (value === undefined) return NO_METADATA;
  const entries = metadataEntries(value);
  if (entries.length > MAX_METADATA_KEYS)
    throw invalidField('x-gateway-metadata', `must have at most ${MAX_METADATA_KEYS} keys`);
  for (const [key, item] of entries) {
    if (item.length > MAX_METADATA_LENGTH || key.length > MAX_METADATA_LENGTH) {
      throw invalidField(
        'x-gateway-metadata',
        `must hold values of at most ${MAX_METADATA_LENGTH} characters under names as short`,
      );
    }
  }
  return Object.fromEntries(entries);
}

/**
 * Values other than strings become their JSON, and null is dropped. Numbers keep their digits: ids of 64 bits must not fall into one
 * group. Node decodes header bytes as Latin-1; clients send
 * JSON in UTF-8.
 */
function metadataEntries(header: string): readonly (readonly [string, string])[] {
  try {
    const parsed = parseExactNumbers(Buffer.from(header, 'latin1').toString('utf8'));
    if (isObject(parsed)) {
      const said = Object.entries(parsed).filter(([, item]) => item !== null);
      return said.map(([key, item]) => [key, textOfValue(item)]);
    }
  } catch {
    // Reported below: invalid JSON and JSON of another type are the same mistake to the caller.
  }
  throw invalidField('x-gateway-metadata', 'must be a JSON object');
}
