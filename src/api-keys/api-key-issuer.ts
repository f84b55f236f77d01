import { Injectable } from '@nestjs/common';
import { type DeepPartial, type EntityManager, LessThanOrEqual } from 'typeorm';
import { SCOPES } from '../access/scopes.js';
import type { Snapshots } from '../audit/audit-changes.js';
import { type AuditRecord, auditRecords } from '../audit/audit-record.js';
import { GatewayError } from '../common/errors/gateway.error.js';
import { Clock } from '../common/time/clock.js';
import { insertRow } from '../database/rows.js';
import { generateApiKey, prefixOf, publicIdOf } from './api-key-format.js';
import { ApiKeyHasher } from './api-key-hasher.js';
import { ApiKeySecret } from './api-key-secret.entity.js';
import { ApiKey } from './api-key.entity.js';

const recordOf = auditRecords<'create' | 'update' | 'rotate' | 'delete'>('api_keys', 'api-key');

/** Audit record of an API key. It names the user for whom the key speaks. */
export function entryOf(
  verb: Parameters<typeof recordOf>[0],
  apiKey: ApiKey,
  changedFields: readonly string[],
  snapshots?: Snapshots,
): AuditRecord {
  return { ...recordOf(verb, apiKey, changedFields, snapshots), user: apiKey.user };
}

/** A clock that was wrong for a while must not remove secrets that are still valid. */
const ENDED_SECRET_KEPT_MS = 86_400_000;

export interface IssuedKey {
  readonly apiKey: ApiKey;
  /** The whole key. Only its hash is kept. */
  readonly key: string;
}

/** Makes keys and their secrets, always in the caller's transaction. */
@Injectable()
export class ApiKeyIssuer {
  constructor(
    private readonly hasher: ApiKeyHasher,
    private readonly clock: Clock,
  ) {}

  /** Stores a new key. `key` is for the first key of a gateway, which the operator may have chosen. */
  async issue(manager: EntityManager, fields: DeepPartial<ApiKey>, key = generateApiKey()): Promise<IssuedKey> {
    const row = Object.assign(manager.create(ApiKey, fields), { prefix: prefixOf(key), lastUsedAt: null });
    const apiKey = await insertRow(manager, row);
    await this.addSecret(manager, apiKey.id, key);
    return { apiKey, key };
  }

  /** A key that may do everything in an organisation. `key` as in `issue`. */
  issueAdmin(manager: EntityManager, organisationId: string, name: string, key?: string): Promise<IssuedKey> {
    const scopes = [...SCOPES];
    const fields = {
      organisationId,
      workspaceId: null,
      name,
      type: 'service',
      scopes,
      user: null,
      expiresAt: null,
      allowedModels: null,
      allowedVirtualKeys: null,
      defaultVirtualKeyId: null,
      createdBy: 'gateway',
    } as const;
    return this.issue(manager, fields, key);
  }

  /**
   * Gives a key a new secret; those before work for at most `transitionSeconds` more. Returns the new key and their end.
   * @throws GatewayError `conflict` for a key that has expired: no secret of it works
   */
  async rotate(
    manager: EntityManager,
    apiKey: ApiKey,
    transitionSeconds: number,
  ): Promise<{ readonly key: string; readonly previousValidUntil: Date }> {
    const now = this.clock.now();
    const { expiresAt } = apiKey;
    if (expiresAt !== null && expiresAt <= now) throw expired();
    const end = new Date(now.getTime() + transitionSeconds * 1000);
    const longOver = new Date(now.getTime() - ENDED_SECRET_KEPT_MS);
    await manager.delete(ApiKeySecret, { apiKeyId: apiKey.id, validUntil: LessThanOrEqual(longOver) });
    // LEAST ignores null. Secrets that an earlier rotation left more time end with the others.
    await manager
      .createQueryBuilder()
      .update(ApiKeySecret)
      .set({ validUntil: () => 'LEAST("valid_until", :end)' })
      .where({ apiKeyId: apiKey.id })
      .setParameter('end', end)
      .execute();
    const key = generateApiKey();
    await this.addSecret(manager, apiKey.id, key);
    await manager.update(ApiKey, { id: apiKey.id, organisationId: apiKey.organisationId }, { prefix: prefixOf(key) });
    return { key, previousValidUntil: expiresAt !== null && expiresAt < end ? expiresAt : end };
  }

  private async addSecret(manager: EntityManager, apiKeyId: string, key: string): Promise<void> {
    const publicId = publicIdOf(key);
    if (publicId === undefined) throw new Error('a key without its form');
    await manager.insert(ApiKeySecret, { publicId, apiKeyId, hash: this.hasher.hash(key) });
  }
}

function expired(): GatewayError {
  return new GatewayError('conflict', { message: 'The API key has expired; set a later expires_at first.' });
}
