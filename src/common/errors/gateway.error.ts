import { ERROR_CODES, type ErrorCode, type ErrorSource } from './error-codes.js';

/** A usage limit that refuses a call, as the caller sees it. Amounts are in the policy's unit: dollars or tokens. */
export interface ExhaustedLimit {
  readonly policy_id: string;
  readonly name: string | null;
  readonly type: 'cost' | 'tokens';
  /** The group that the call counts in. */
  readonly value_key: string;
  readonly credit_limit: number;
  readonly current_usage: number;
  /** The expected usage of calls in flight. */
  readonly reserved: number;
  /** Unix seconds; null: never. */
  readonly next_reset_at: number | null;
}

/** One broken rule: the path of the field as it was sent, and what was expected there. */
export interface ErrorDetail {
  readonly param: string | null;
  readonly message: string;
}

/** A broken rule of a named field. */
export interface FieldProblem extends ErrorDetail {
  readonly param: string;
}

/** What a provider said about a failure. */
export interface ProviderSaid {
  readonly status: number;
  /** Its own names, for the caller. */
  readonly code?: string | undefined;
  readonly type?: string | undefined;
  /** Its sentence, for the log and for administrators: without secrets and without words of the request. */
  readonly words?: string | undefined;
  /** Whether the answer came from a proxy and not from the provider: it is not known what the provider has done. */
  readonly isForeignPage?: boolean | undefined;
}

export interface GatewayErrorOptions {
  /** Replaces the table's sentence. Never holds a value that the caller or a provider sent as a secret. */
  readonly message?: string;
  readonly param?: string;
  readonly details?: readonly ErrorDetail[];
  /** Shown instead of `details`: every usage limit that the call does not fit into. */
  readonly limits?: readonly ExhaustedLimit[];
  /** Only for `provider_rejected`, which keeps the provider's own status. */
  readonly status?: number;
  /** Response headers that belong to the error: `Retry-After`, `Allow`, `WWW-Authenticate`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Why, for the log. Never shown to the caller. */
  readonly reason?: string;
  readonly provider?: ProviderSaid | undefined;
  /** What an administrator can do about it: shown by the tests and previews of a resource, not to its users. */
  readonly hint?: string;
  readonly cause?: unknown;
}

/** The only error that services throw on purpose. Any other error is a defect, and the caller gets `internal_error`. */
export class GatewayError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly type: string;
  readonly source: ErrorSource;
  readonly param: string | null;
  readonly details: readonly ErrorDetail[] | undefined;
  readonly limits: readonly ExhaustedLimit[] | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly reason: string | undefined;
  readonly provider: ProviderSaid | undefined;
  readonly hint: string | undefined;

  constructor(code: ErrorCode, options: GatewayErrorOptions = {}) {
    const entry = ERROR_CODES[code];
    super(options.message ?? entry.message, { cause: options.cause });
    this.name = 'GatewayError';
    this.code = code;
    this.status = options.status ?? entry.status;
    this.type = entry.type;
    this.source = entry.source;
    this.param = options.param ?? options.details?.[0]?.param ?? null;
    this.details = options.details;
    this.limits = options.limits;
    this.headers = options.headers ?? {};
    this.reason = options.reason;
    this.provider = options.provider;
    this.hint = options.hint;
  }

  /** A copy of the error with additional headers. */
  withHeaders(headers: Readonly<Record<string, string>>): GatewayError {
    const { code, message, status, details, limits, reason, hint, provider, cause } = this;
    const param = this.param ?? undefined;
    const all = { ...this.headers, ...headers };
    return new GatewayError(code, {
      message,
      status,
      param,
      details,
      limits,
      reason,
      hint,
      provider,
      cause,
      headers: all,
    });
  }
}

/** One broken rule. `expected` reads on from the field's name: `must be a string`. */
export function fieldError(param: string, expected: string): FieldProblem {
  return { param, message: `${param} ${expected}` };
}

/** A 400 that names one field. `expected` reads on from the field's name. */
export function invalidField(param: string, expected: string): GatewayError {
  return invalidFields([fieldError(param, expected)]);
}

/** @throws GatewayError `validation_failed` that lists the broken rules, unless there are none */
export function throwIfInvalid(details: readonly ErrorDetail[]): void {
  if (details.length > 0) throw invalidFields(details);
}

/** Of broken rules in one response: more help no reader, and a body can break millions. */
const MAX_DETAILS = 20;
/** Of all of them as JSON. */
const MAX_DETAIL_BYTES = 12 * 1024;
/** A path has names that the client sent. */
const MAX_PARAM_CHARACTERS = 200;

/** A 400 that lists the first broken rules. Its `param` and its sentence are the first one's. */
export function invalidFields(details: readonly ErrorDetail[]): GatewayError {
  const shown: ErrorDetail[] = [];
  let bytes = 0;
  for (const detail of details.slice(0, MAX_DETAILS)) {
    const short = shortened(detail);
    bytes += Buffer.byteLength(JSON.stringify(short));
    if (shown.length > 0 && bytes > MAX_DETAIL_BYTES) break;
    shown.push(short);
  }
  const others = details.length - 1;
  const message = `${shown[0]?.message}${others > 0 ? ` (and ${others} more)` : ''}`;
  return new GatewayError('validation_failed', { message, details: shown });
}

function shortened({ param, message }: ErrorDetail): ErrorDetail {
  if (param === null || param.length <= MAX_PARAM_CHARACTERS) return { param, message };
  const start = `${param.slice(0, MAX_PARAM_CHARACTERS)}…`;
  return { param: start, message: message.replace(param, () => start) };
}

const RETRY_AFTER_SECONDS = 5;

export function identityProviderUnavailable(reason: string, cause?: unknown): GatewayError {
  return new GatewayError('identity_provider_unavailable', {
    reason,
    cause,
    // Not 401, which would make clients log in again.
    headers: { 'retry-after': String(RETRY_AFTER_SECONDS) },
  });
}

/**
 * For responses that a retry would not change, or where a retry could do the work twice. OpenAI's SDKs and others obey
 * it.
 */
export const DO_NOT_RETRY = { 'x-should-retry': 'false' } as const;
