import { expiryStatus } from '../common/time/expiry-status.js';
import { toUnixSeconds } from '../common/time/unix-time.js';
import { SecretMappingResponse, toSecretMappingResponse } from '../secret-references/secret-mapping.response.js';
import type { VirtualKey } from './virtual-key.entity.js';

export class VirtualKeyResponse {
  readonly id: string;
  readonly slug: string;
  readonly object: 'virtual-key';
  readonly organisation_id: string;
  /** null: usable in every workspace of the organisation. */
  readonly workspace_id: string | null;
  readonly name: string;
  readonly description: string | null;
  /** The provider that calls with this virtual key go to. */
  readonly provider: string;
  /** Masked; null when there is none, or when it comes from a secret reference. */
  readonly key: string | null;
  /** Options of the provider, secrets masked. */
  readonly config: Record<string, unknown>;
  /** Fields that take their values from secret references. */
  readonly secret_mappings: SecretMappingResponse[];
  /** `active` or `expired`. */
  readonly status: 'active' | 'expired';
  /** Unix seconds; null: never. */
  readonly expires_at: number | null;
  /** Unix seconds. */
  readonly created_at: number;
  /** Unix seconds. */
  readonly updated_at: number;
}

export class VirtualKeyListResponse {
  readonly object: 'list';
  readonly data: VirtualKeyResponse[];
  readonly total: number;
}

export class VirtualKeyTestResponse {
  /** Whether the provider accepted the credential. */
  readonly ok: boolean;
  /** How long the test took. */
  readonly latency_ms: number;
  /** Code of the error, when it did not. */
  readonly error?: string;
  /**
   * Where the call failed: `dns`, `connect`, `tls`, `egress_refused`, `timeout`, `busy`, `connection_lost`, `redirect`,
   * `too_large`, `invalid_response`, or the status of the answer, such as `http_401`. Absent when no call was made.
   */
  readonly reason?: string;
  /** What the provider said, without secrets. */
  readonly provider_message?: string;
  /**
   * When a secret reference is the cause of `secret_unavailable`: the code that the test of the reference reports, or
   * `value_not_valid` when the field does not accept the secret.
   */
  readonly secret_error?: string;
}

export function toVirtualKeyResponse(
  row: VirtualKey,
  now: Date,
  masked: { readonly key: string | null; readonly options: Readonly<Record<string, string>> },
): VirtualKeyResponse {
  return {
    id: row.id,
    slug: row.slug,
    object: 'virtual-key',
    organisation_id: row.organisationId,
    workspace_id: row.workspaceId,
    name: row.name,
    description: row.description,
    provider: row.provider,
    key: masked.key,
    config: { ...row.options, ...masked.options },
    secret_mappings: row.secretMappings.map(toSecretMappingResponse),
    status: expiryStatus(row.expiresAt, now),
    expires_at: toUnixSeconds(row.expiresAt),
    created_at: toUnixSeconds(row.createdAt),
    updated_at: toUnixSeconds(row.updatedAt),
  };
}
