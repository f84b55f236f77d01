import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Tenant } from '../access/principal.js';
import { fieldError, throwIfInvalid } from '../common/errors/gateway.error.js';
import { VirtualKeyStore } from '../virtual-keys/virtual-key.store.js';
import type { ApiKey } from './api-key.entity.js';
import type { CreateApiKeyDto } from './dto/api-key.dto.js';

type Access = Pick<ApiKey, 'allowedModels' | 'allowedVirtualKeys' | 'defaultVirtualKeyId'>;
type Given = Pick<CreateApiKeyDto, 'allowed_models' | 'allowed_virtual_keys' | 'default_virtual_key'>;

const EVERYTHING: Access = { allowedModels: null, allowedVirtualKeys: null, defaultVirtualKeyId: null };
const EXPECTED = 'must be the id or the slug of one virtual key that the API key can use';

/** Reads which models and virtual keys a body gives to an API key. Always in the transaction that writes the key. */
@Injectable()
export class ProviderAccessReader {
  constructor(private readonly virtualKeys: VirtualKeyStore) {}

  /**
   * @param tenant of the API key
   * @throws GatewayError `validation_failed` that names each virtual key that the API key could not use
   */
  async read(manager: EntityManager, tenant: Tenant, given: Given): Promise<Access> {
    return { ...EVERYTHING, ...(await this.readChanges(manager, { ...EVERYTHING, ...tenant }, given)) };
  }

  /** Reads the fields of an update. A virtual key that is gone may stay in the list that has it. */
  async readChanges(manager: EntityManager, stored: Access & Tenant, given: Given): Promise<Partial<Access>> {
    const { allowed_models: models, allowed_virtual_keys: allowed, default_virtual_key: preset } = given;
    const refs = [...(allowed ?? []), ...(typeof preset === 'string' ? [preset] : [])];
    const kept = (stored.allowedVirtualKeys ?? []).map((id) => [id, id] as const);
    const ids = new Map([...kept, ...(await this.virtualKeys.idsForUse(manager, stored, refs))]);
    throwIfInvalid([
      ...(allowed ?? []).flatMap((ref, index) =>
        ids.has(ref) ? [] : [fieldError(`allowed_virtual_keys.${index}`, EXPECTED)],
      ),
      ...(typeof preset === 'string' && !ids.has(preset) ? [fieldError('default_virtual_key', EXPECTED)] : []),
    ]);
    const changes: Partial<Access> = {
      ...(models === undefined ? {} : { allowedModels: models }),
      ...(allowed === undefined
        ? {}
        : { allowedVirtualKeys: allowed && [...new Set(allowed.flatMap((ref) => ids.get(ref) ?? []))] }),
      ...(preset === undefined ? {} : { defaultVirtualKeyId: preset === null ? null : (ids.get(preset) ?? null) }),
    };
    assertDefaultIsAllowed({ ...stored, ...changes });
    return changes;
  }
}

function assertDefaultIsAllowed({ allowedVirtualKeys, defaultVirtualKeyId }: Access): void {
  if (allowedVirtualKeys === null || defaultVirtualKeyId === null) return;
  if (allowedVirtualKeys.includes(defaultVirtualKeyId)) return;
  throwIfInvalid([fieldError('default_virtual_key', 'must be one of allowed_virtual_keys')]);
}
