/** Who is at fault from the caller's point of view: the gateway (or the request) or the provider behind it. */
export type ErrorSource = 'gateway' | 'provider';

interface ErrorCodeEntry {
  readonly status: number;
  readonly type: string;
  readonly source: ErrorSource;
  /** The default message; the code that throws may give another. */
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
    when: 'The request breaks a rule. `param` names the first field, and `details` lists every broken rule; for a list (`documents`), the first item that breaks it. With status 431, the head of the request is larger than 16 KiB.',
  },
  unsupported_parameter: {
    status: 400,
    type: 'invalid_request_error',
    source: 'gateway',
    message: 'The chosen provider does not support a parameter of the request.',
    when: 'With `x-gateway-strict: true`, an option that the chosen provider does not have. Without the header, the option is left out and named in `x-gateway-warnings`. Also `stream` for a new thread where the virtual key has `isolation: strict`.',
  },
  provider_not_supported: {
    status: 400,
    type: 'invalid_request_error',
    source: 'gateway',
    message: 'The provider of this virtual key does not support this operation.',
    when: 'The virtual key belongs to a provider that does not offer the requested operation. The message lists the providers that do, or what this one offers.',
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
    when: 'The database could not add up the report within four seconds. Narrow the time range (`from`, `to`), or filter more.',
  },
  api_key_invalid: {
    status: 401,
    type: 'authentication_error',
    source: 'gateway',
    message: 'The gateway API key is missing or not valid.',
    when: 'The gateway key is missing, unknown, malformed, expired or revoked. The message is the same for all of them.',
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
    when: 'The resource is unknown, or there is nothing at the address. A resource of another tenant returns the same answer.',
  },
  operation_not_offered: {
    status: 404,
    type: 'not_found_error',
    source: 'gateway',
    message: 'The gateway does not offer this operation.',
    when: 'The address belongs to the API (`/v1/…`), but there is no such operation. The message lists the operations on the same resource, or all resources.',
  },
  virtual_key_not_found: {
    status: 404,
    type: 'not_found_error',
    source: 'gateway',
    message: 'The virtual key does not exist.',
    when: 'The header `x-gateway-virtual-key` does not name a virtual key that the caller can use: it is unknown, expired, or of another tenant.',
  },
  method_not_allowed: {
    status: 405,
    type: 'invalid_request_error',
    source: 'gateway',
    message: 'This address does not support this method.',
    when: 'The address exists, but not with this method. The header `Allow` lists its methods.',
  },
  request_timeout: {
    status: 408,
    type: 'invalid_request_error',
    source: 'gateway',
    message: 'The request did not arrive in time.',
    when: 'A JSON body was silent for 30 seconds, or took longer than `JSON_BODY_TIMEOUT_MS` (default five minutes) in all. Or the head of a request took longer than a minute, or an upload longer than an hour. The connection is closed.',
  },
  conflict: {
    status: 409,
    type: 'conflict_error',
    source: 'gateway',
    message: 'The request conflicts with an existing resource.',
    when: 'A slug is already taken. Or the resource to delete is still in use: a workspace that has API keys, virtual keys, webhooks, MCP servers or active usage-limit policies. Or several workspaces have an MCP server with the name in the address. Or the webhook endpoint of a test or redelivery is disabled.',
  },
  idempotency_key_in_use: {
    status: 409,
    type: 'conflict_error',
    source: 'gateway',
    message: 'A request with this Idempotency-Key is in progress.',
    when: 'Two creates with the same `Idempotency-Key` were sent at the same time: repeat the second one. If it persists, the gateway stopped before it could keep the answer; the message has the id of the created resource.',
  },
  usage_limit_exceeded: {
    status: 412,
    type: 'usage_limit_error',
    source: 'gateway',
    message: 'A usage limit is used up.',
    when: 'The call does not fit into what a usage-limit policy has left, or the policy has reached its maximum number of groups. Or the call starts work that is billed later (a batch, a fine-tuning job, a run), and a matching limit is used up. `details` lists every limit that refuses the call, with its usage and `next_reset_at`. Nothing was sent. The headers `x-gateway-limit-*` describe the first limit, and `x-should-retry: false` prevents SDKs from retrying.',
  },
  price_unknown: {
    status: 412,
    type: 'usage_limit_error',
    source: 'gateway',
    message: 'The model has no price, so a limit on costs cannot be enforced.',
    when: 'A cost policy applies to the call, and the model has no price. With `USAGE_UNPRICED=allow` such calls are sent, at no cost.',
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
  idempotency_key_reused: {
    status: 422,
    type: 'invalid_request_error',
    source: 'gateway',
    message: 'This Idempotency-Key belongs to another request.',
    when: 'The caller has sent the same `Idempotency-Key` with another body, or to another address, within a day.',
  },
  rate_limited: {
    status: 429,
    type: 'rate_limit_error',
    source: 'gateway',
    message: 'The API key has reached its request rate limit.',
    when: 'A rate limit of the API key is used up, or the caller has too many calls or streams open at an MCP server. `Retry-After` says when to retry; where that is more than a minute away, `x-should-retry: false` prevents SDKs from waiting.',
  },
  usage_limit_contended: {
    status: 429,
    type: 'usage_limit_error',
    source: 'gateway',
    message: 'Calls in flight hold the rest of a usage limit.',
    when: 'The call would fit into its usage limits without other calls in flight. `Retry-After` says when to retry; `details` is as for `usage_limit_exceeded`.',
  },
  provider_rejected: {
    status: 400,
    type: 'provider_error',
    source: 'provider',
    message: 'The provider rejected the request.',
    when: "The provider returned 4xx. Status and message are the provider's own; a credential in the message is masked. Also a 2xx answer that holds such an error instead of a result.",
  },
  provider_rate_limited: {
    status: 429,
    type: 'rate_limit_error',
    source: 'provider',
    message: 'The provider is limiting the request rate.',
    when: "The provider returned 429. `Retry-After` and the message are the provider's, where it sends them: its quota may be used up.",
  },
  provider_credential_rejected: {
    status: 502,
    type: 'provider_error',
    source: 'provider',
    message: 'The provider rejected the credential of the virtual key.',
    when: "The provider returned 401 or 403 (Cohere also 498). The caller's gateway key is valid. With 401, the credential of the virtual key is not; with 403, the provider does not permit the call with it, and the message says so. The provider's words are in the log, and in the answer of the virtual key's test.",
  },
  provider_failed: {
    status: 502,
    type: 'provider_error',
    source: 'provider',
    message: 'The provider could not be reached or failed.',
    when: 'The provider refused or broke the connection, returned 5xx (with its `Retry-After`), or its address is refused by the egress rules. Also a 2xx answer that holds an error instead of a result, with the message of the provider.',
  },
  provider_invalid_response: {
    status: 502,
    type: 'provider_error',
    source: 'provider',
    message: 'The provider returned an answer that the gateway does not understand.',
    when: 'The answer is not JSON, is cut off, is too large, is a redirect, or has the wrong shape.',
  },
  secret_unavailable: {
    status: 502,
    type: 'provider_error',
    source: 'gateway',
    message: 'The credential of the virtual key or MCP server could not be obtained.',
    when: "A secret reference of the virtual key or MCP server could not be resolved, another service that issues the credential (AWS STS) failed, or the stored credential cannot be decrypted. The reason is in the gateway's log.",
  },
  identity_provider_unavailable: {
    status: 502,
    type: 'api_error',
    source: 'gateway',
    message: 'The identity provider could not be reached.',
    when: 'The keys that verify a token could not be fetched in time, or the introspection endpoint did not answer.',
  },
  identity_forwarding_failed: {
    status: 502,
    type: 'api_error',
    source: 'gateway',
    message: 'The identity of the user could not be forwarded to the MCP server.',
    when: 'The MCP server has `user_identity_forwarding`, and the identity cannot be made: there is no signing key, signing fails, the claims are larger than 8 KiB, or the method is `bearer` and the caller has no token that may be forwarded. The server is not called. The log and the test of the server say what is missing.',
  },
  store_unavailable: {
    status: 503,
    type: 'api_error',
    source: 'gateway',
    message: 'A store that the gateway depends on is not available.',
    when: 'The database, or the Redis that counts rate limits, cannot be reached or takes no writes (a standby, a full Redis), or a lock could not be obtained in time. Calls under a usage-limit policy are refused then. Others continue as long as their key is cached: 5 seconds when the whole database is away. Also an MCP call that arrives while the gateway shuts down.',
  },
  draining: {
    status: 503,
    type: 'api_error',
    source: 'gateway',
    message: 'The gateway is stopping.',
    when: 'The answer of `/health/ready` while the gateway shuts down. Requests that are in flight, and those that still arrive during `SHUTDOWN_DELAY_MS`, are served.',
  },
  usage_limit_unreadable: {
    status: 503,
    type: 'api_error',
    source: 'gateway',
    message: 'A usage limit that applies cannot be read, so it cannot be enforced.',
    when: 'A usage-limit policy holds something that this version does not know. Calls that it may apply to, and questions about its usage, are refused until it is corrected or archived. Other calls continue. `x-gateway-limit-policy` names the policy.',
  },
  report_busy: {
    status: 503,
    type: 'api_error',
    source: 'gateway',
    message: 'Too many reports are running; try again.',
    when: 'A gateway makes three reports at a time, at most two of them for one organisation, and this one has waited for two seconds. `Retry-After` says when to retry.',
  },
  provider_busy: {
    status: 503,
    type: 'provider_error',
    source: 'provider',
    message: 'All connections to the provider are in use; try again.',
    when: "No connection to the provider's address was free within a second, or none of those that the virtual key or its organisation can have: other calls hold them, and the provider is slow. Nothing was sent. `Retry-After` says when to retry.",
  },
  provider_timeout: {
    status: 504,
    type: 'provider_error',
    source: 'provider',
    message: 'The provider did not answer in time.',
    when: 'The provider did not answer within the timeout of the virtual key, retries included, or returned 408. As the last event of a stream: the provider was silent for longer than `PROVIDER_STREAM_IDLE_MS`.',
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
