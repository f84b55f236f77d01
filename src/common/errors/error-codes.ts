/** Who is at fault from the caller's point of view: the gateway (or the request) or the provider behind it. */
export type ErrorSource = 'gateway' | 'provider';

interface ErrorCodeEntry {
  readonly status: number;
  readonly type: string;
  readonly source: ErrorSource;
  /** What the caller reads when the thrower gives no message of its own. */
  readonly message: string;
  /** When it happens; printed in docs/errors.md and the OpenAPI document. */
  readonly when: string;
}

/** The one table of errors. docs/errors.md is generated from it and a test keeps both equal. */
export const ERROR_CODES = {
  validation_failed: {
    status: 400,
    type: 'invalid_request_error',
    source: 'gateway',
    message: 'The request is not valid.',
    when: 'A rule of the request is broken. `param` names the first field, `details` lists every broken rule; of a list (`documents`), the first item that breaks it. With status 431, the head of the request is larger than 16 KiB.',
  },
  unsupported_parameter: {
    status: 400,
    type: 'invalid_request_error',
    source: 'gateway',
    message: 'The chosen provider does not support a parameter of the request.',
    when: 'Only with `x-gateway-strict: true`: an option that the chosen provider does not have. Otherwise it is left out and named in `x-gateway-warnings`. Also `stream` for a new thread where the virtual key has `isolation: strict`.',
  },
  provider_not_supported: {
    status: 400,
    type: 'invalid_request_error',
    source: 'gateway',
    message: 'The provider of this virtual key does not support this operation.',
    when: 'The virtual key belongs to a provider that does not offer the requested operation.',
  },
  virtual_key_required: {
    status: 400,
    type: 'invalid_request_error',
    source: 'gateway',
    message: 'This operation needs the header x-gateway-virtual-key.',
    when: 'A provider-style endpoint was called without `x-gateway-virtual-key`.',
  },
  report_too_large: {
    status: 400,
    type: 'invalid_request_error',
    source: 'gateway',
    message: 'The report takes too long: narrow the time range (from, to), or filter more.',
    when: 'The database could not add up a report within four seconds. Narrow the time range (`from`, `to`), or filter more.',
  },
  api_key_invalid: {
    status: 401,
    type: 'authentication_error',
    source: 'gateway',
    message: 'The gateway API key is missing or not valid.',
    when: 'The gateway key is missing, unknown, mistyped, expired or revoked. One sentence for all of them.',
  },
  token_invalid: {
    status: 401,
    type: 'authentication_error',
    source: 'gateway',
    message: 'The bearer token is not valid.',
    when: 'The token of an administrator or of an MCP user fails verification: signature, issuer, audience, expiry, or a claim that it needs.',
  },
  permission_denied: {
    status: 403,
    type: 'permission_error',
    source: 'gateway',
    message: 'The caller lacks a permission that this operation needs.',
    when: 'A known caller lacks the scope of the route, or tries to grant more than it has.',
  },
  tenant_mismatch: {
    status: 403,
    type: 'permission_error',
    source: 'gateway',
    message: 'The request names an organisation or workspace that the caller does not act for.',
    when: "The request names an organisation or workspace other than the caller's own.",
  },
  not_found: {
    status: 404,
    type: 'not_found_error',
    source: 'gateway',
    message: 'The resource does not exist.',
    when: 'Unknown route, or unknown resource. A resource of another tenant answers the same.',
  },
  virtual_key_not_found: {
    status: 404,
    type: 'not_found_error',
    source: 'gateway',
    message: 'The virtual key does not exist.',
    when: 'The header `x-gateway-virtual-key` names no usable virtual key of the caller (unknown, foreign or expired).',
  },
  method_not_allowed: {
    status: 405,
    type: 'invalid_request_error',
    source: 'gateway',
    message: 'This address does not take this method.',
    when: 'The address exists, the method does not. The header `Allow` lists the methods that do.',
  },
  request_timeout: {
    status: 408,
    type: 'invalid_request_error',
    source: 'gateway',
    message: 'The request did not arrive in time.',
    when: 'Nothing of a JSON body came for 30 seconds, or all of it took longer than `JSON_BODY_TIMEOUT_MS` (default five minutes); or the head of a request took longer than a minute, an upload longer than an hour. The connection is closed.',
  },
  conflict: {
    status: 409,
    type: 'conflict_error',
    source: 'gateway',
    message: 'The request conflicts with an existing resource.',
    when: 'A slug is already taken, or a resource that is still in use would be deleted: a workspace while it has API keys, virtual keys, webhooks, MCP servers or active usage-limit policies. Or several workspaces have an MCP server of the name in the address. Or a webhook endpoint is disabled, and gets no test and no redelivery.',
  },
  usage_limit_exceeded: {
    status: 412,
    type: 'usage_limit_error',
    source: 'gateway',
    message: 'A usage limit is used up.',
    when: 'The call does not fit into what a usage-limit policy leaves, or the policy has as many groups as it may have. `details` lists every limit in the way, with its usage and `next_reset_at`. Nothing was sent; the headers `x-gateway-limit-*` tell the first limit, and `x-should-retry: false` keeps SDKs from trying again.',
  },
  price_unknown: {
    status: 412,
    type: 'usage_limit_error',
    source: 'gateway',
    message: 'The model has no price, so a limit on costs cannot be kept.',
    when: 'A cost policy applies to the call, and no price of the model is known. `USAGE_UNPRICED=allow` lets such calls pass, at no cost.',
  },
  payload_too_large: {
    status: 413,
    type: 'invalid_request_error',
    source: 'gateway',
    message: 'The request body is too large.',
    when: 'The body is larger than `MAX_JSON_BODY_BYTES` (default 4 MiB).',
  },
  unsupported_media_type: {
    status: 415,
    type: 'invalid_request_error',
    source: 'gateway',
    message: 'The request body must be JSON (content-type: application/json).',
    when: 'The body is not `application/json` in UTF-8, or is compressed.',
  },
  rate_limited: {
    status: 429,
    type: 'rate_limit_error',
    source: 'gateway',
    message: 'The API key has reached its request rate limit.',
    when: 'A rate limit of the API key is used up, or the caller has too many calls or streams open at an MCP server. `Retry-After` tells when to try again; `x-should-retry: false` keeps SDKs from waiting for more than a minute.',
  },
  usage_limit_contended: {
    status: 429,
    type: 'usage_limit_error',
    source: 'gateway',
    message: 'Calls under way hold the rest of a usage limit.',
    when: 'The call would fit into its usage limits if other calls were not under way. `Retry-After` tells when to try again; `details` as for `usage_limit_exceeded`.',
  },
  provider_rejected: {
    status: 400,
    type: 'provider_error',
    source: 'provider',
    message: 'The provider rejected the request.',
    when: "The provider answered 4xx. The status is the provider's own, and so is the message, with the credential masked where the provider repeats it.",
  },
  provider_rate_limited: {
    status: 429,
    type: 'rate_limit_error',
    source: 'provider',
    message: 'The provider is limiting the request rate.',
    when: "The provider answered 429. `Retry-After` is the provider's, and so is the message, where it has one: its quota may be used up.",
  },
  provider_credential_rejected: {
    status: 502,
    type: 'provider_error',
    source: 'provider',
    message: 'The provider rejected the credential of the virtual key.',
    when: "The provider answered 401 or 403 (Cohere also 498): the caller's gateway key was fine, the credential behind the virtual key was not.",
  },
  provider_failed: {
    status: 502,
    type: 'provider_error',
    source: 'provider',
    message: 'The provider could not be reached or failed.',
    when: 'The provider refused the connection, broke it off, answered 5xx itself (with its `Retry-After`), or its address is refused by the egress rules.',
  },
  provider_invalid_response: {
    status: 502,
    type: 'provider_error',
    source: 'provider',
    message: 'The provider answered in a form that the gateway does not understand.',
    when: 'The answer is not JSON, is cut off, too large, redirects elsewhere, or has the wrong shape. Also a 5xx with a page, which something in between has made (with its `Retry-After`): what the provider has done is not known.',
  },
  secret_unavailable: {
    status: 502,
    type: 'provider_error',
    source: 'gateway',
    message: 'The credential of the virtual key or MCP server could not be obtained.',
    when: "A secret reference of the virtual key or MCP server could not be resolved, or another service that gives the credential (AWS STS) failed, or the stored credential does not open. The reason is in the gateway's log.",
  },
  identity_provider_unavailable: {
    status: 502,
    type: 'api_error',
    source: 'gateway',
    message: 'The identity provider could not be reached.',
    when: 'The keys that verify a token could not be fetched, or the provider could not be asked about it, in time or at all.',
  },
  identity_forwarding_failed: {
    status: 502,
    type: 'api_error',
    source: 'gateway',
    message: 'The identity of the user could not be told to the MCP server.',
    when: 'The MCP server has `user_identity_forwarding`, and it cannot be done: no signing key, signing fails, or the claims are larger than 8 KiB. The server is not called.',
  },
  store_unavailable: {
    status: 503,
    type: 'api_error',
    source: 'gateway',
    message: 'A store that the gateway depends on is not available.',
    when: 'The database, or the counters of a rate limit, cannot be reached or take no writes (a standby, a full Redis), or others hold what is to be changed. Calls that a usage-limit policy applies to are refused then; others pass for as long as their key is known, which is 5 seconds where the whole database is away. Also an MCP call that comes while the gateway ends.',
  },
  usage_limit_unreadable: {
    status: 503,
    type: 'api_error',
    source: 'gateway',
    message: 'A usage limit that applies cannot be read, so it cannot be kept.',
    when: 'The row of a usage-limit policy holds what this version does not know. Calls that it may be for, and questions about what it has counted, are refused until it is corrected or archived; other calls pass; `x-gateway-limit-policy` names it.',
  },
  report_busy: {
    status: 503,
    type: 'api_error',
    source: 'gateway',
    message: 'Other reports are being made; try again.',
    when: 'A gateway makes three reports at once, at most two of them for one organisation, so that calls keep their connections to the database, and another one has waited for two seconds. `Retry-After` tells when to try again.',
  },
  provider_timeout: {
    status: 504,
    type: 'provider_error',
    source: 'provider',
    message: 'The provider did not answer in time.',
    when: 'The provider did not answer within the timeout of the virtual key, retries included, or answered 408. As the last event of a stream: it was silent for longer than `PROVIDER_STREAM_IDLE_MS`.',
  },
  internal_error: {
    status: 500,
    type: 'api_error',
    source: 'gateway',
    message: 'The gateway failed to handle the request.',
    when: 'A defect of the gateway. The trace id finds the log line.',
  },
} as const satisfies Record<string, ErrorCodeEntry>;

export type ErrorCode = keyof typeof ERROR_CODES;
