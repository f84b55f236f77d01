import { Injectable } from '@nestjs/common';
import { isObject, type JsonObject } from '../common/json/read.js';
import { openSealed } from '../sealing/decrypted.js';
import { type SealedPlace, Sealer } from '../sealing/sealer.js';
import type { VirtualKey } from './virtual-key.entity.js';

type SealableRow = Pick<VirtualKey, 'id' | 'organisationId'>;

/** Seals and opens the secrets of virtual keys. Each is bound to its tenant, row and column. */
@Injectable()
export class VirtualKeyEncryptor {
  constructor(private readonly sealer: Sealer) {}

  sealKey(row: SealableRow, key: string | undefined): string | null {
    return key === undefined ? null : this.sealer.seal(key, placeOf(row, 'sealed_key'));
  }

  sealOptions(row: SealableRow, secret: JsonObject): string | null {
    return Object.keys(secret).length === 0
      ? null
      : this.sealer.seal(JSON.stringify(secret), placeOf(row, 'sealed_options'));
  }

  /** @throws GatewayError `secret_unavailable` when the value is damaged or its master key is not configured */
  openKey(row: VirtualKey): string | undefined {
    return row.sealedKey === null ? undefined : openSealed(this.sealer, row.sealedKey, placeOf(row, 'sealed_key'));
  }

  /** @throws GatewayError `secret_unavailable`, as `openKey` */
  openOptions(row: VirtualKey): JsonObject {
    if (row.sealedOptions === null) return {};
    const options: unknown = JSON.parse(openSealed(this.sealer, row.sealedOptions, placeOf(row, 'sealed_options')));
    return isObject(options) ? options : {};
  }
}

export function placeOf(row: SealableRow, field: 'sealed_key' | 'sealed_options'): SealedPlace {
  return { organisationId: row.organisationId, table: 'virtual_keys', rowId: row.id, field };
}
