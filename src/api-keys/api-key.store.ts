import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { Principal } from '../access/principal.js';
import { isScope } from '../access/scopes.js';
import { type CallSettings, WorkspacesService } from '../workspaces/workspaces.service.js';
import { publicIdOf } from './api-key-format.js';
import { ApiKeyHasher } from './api-key-hasher.js';
import { ApiKeySecret } from './api-key-secret.entity.js';
import type { ApiKey } from './api-key.entity.js';
import { LastUse } from './last-use.js';

/** Why a key is refused: for the log only, callers get one sentence for all. A deleted key is `unknown`. */
export type KeyRefusal = 'malformed' | 'unknown' | 'wrong_secret' | 'expired';

/** The owner of a key, and until when the key is valid, in Unix milliseconds. */
export type KeyAnswer =
  { readonly principal: Principal; readonly validUntil: number } | { readonly refusal: KeyRefusal };

@Injectable()
export class ApiKeyStore {
  constructor(
    @InjectRepository(ApiKeySecret) private readonly secrets: Repository<ApiKeySecret>,
    private readonly hasher: ApiKeyHasher,
    private readonly workspaces: WorkspacesService,
    private readonly uses: LastUse,
  ) {}

  /** Looks a key up by its public id and compares its hash in constant time. */
  async find(key: string): Promise<KeyAnswer> {
    const publicId = publicIdOf(key);
    if (publicId === undefined) return { refusal: 'malformed' };
    const secret = await this.secretOf(publicId);
    if (secret?.apiKey === undefined) return { refusal: 'unknown' };
    if (!this.hasher.matches(key, secret.hash)) return { refusal: 'wrong_secret' };
    return this.answerOf(secret, secret.apiKey);
  }

  /** The owner of a key whose secret was seen before. @param publicId of that secret */
  async ownerOf(publicId: string): Promise<KeyAnswer> {
    const secret = await this.secretOf(publicId);
    return secret?.apiKey === undefined ? { refusal: 'unknown' } : this.answerOf(secret, secret.apiKey);
  }

  private secretOf(publicId: string): Promise<ApiKeySecret | null> {
    return this.secrets.findOne({
      where: { publicId },
      select: { publicId: true, hash: true, validUntil: true, apiKeyId: true },
      relations: { apiKey: true },
    });
  }

  private async answerOf(secret: ApiKeySecret, key: ApiKey): Promise<KeyAnswer> {
    const settings = await this.workspaces.callSettings(key.organisationId, key.workspaceId);
    const end = validUntil(secret, key);
    this.uses.note(key, end);
    return { principal: toPrincipal(key, settings), validUntil: end };
  }
}

/** The earlier of the key's and the secret's end, in Unix milliseconds. */
function validUntil(secret: ApiKeySecret, key: ApiKey): number {
  return Math.min(secret.validUntil?.getTime() ?? Infinity, key.expiresAt?.getTime() ?? Infinity);
}

function toPrincipal(key: ApiKey, { defaultMetadata, logBodies }: CallSettings): Principal {
  return {
    kind: 'api_key',
    id: key.id,
    name: key.name,
    organisationId: key.organisationId,
    workspaceId: key.workspaceId,
    scopes: new Set(key.scopes.filter(isScope)),
    user: key.user,
    enforcedMetadata: key.metadata,
    defaultMetadata,
    logBodies,
    rateLimits: key.rateLimits,
    mcpGrants: { servers: key.allowedMcpServers, tools: key.allowedMcpTools },
    providerAccess: {
      allowedModels: key.allowedModels,
      allowedVirtualKeys: key.allowedVirtualKeys,
      defaultVirtualKeyId: key.defaultVirtualKeyId,
    },
    expiresAt: key.expiresAt,
  };
}
