import { Injectable } from '@nestjs/common';
import type { JsonObject } from '../common/json/read.js';
import { EgressPolicy } from '../upstream/egress/egress-policy.js';
import type { Credential, Vendor } from '../upstream/vendors/vendor.types.js';
import { VendorRegistry } from '../upstream/vendors/vendor.registry.js';
import { isMaskOf, mask } from './mask.js';
import { checkProviderOptions, mergeOptions, splitOptions, toVendorOptions } from './provider-options.js';
import type { VirtualKey } from './virtual-key.entity.js';
import { toVirtualKeyResponse, type VirtualKeyResponse } from './virtual-key.response.js';
import { VirtualKeyVault } from './virtual-key.vault.js';

/** The columns that hold a virtual key's credential and options. */
export type SealedColumns = Pick<VirtualKey, 'options' | 'sealedKey' | 'sealedOptions'>;

type KeyRow = Pick<VirtualKey, 'id' | 'organisationId' | 'provider'>;

/** What a virtual key holds for its provider: checked on the way in, sealed at rest, masked on the way out. */
@Injectable()
export class VirtualKeyCredentials {
  constructor(
    private readonly vendors: VendorRegistry,
    private readonly vault: VirtualKeyVault,
    private readonly egress: EgressPolicy,
  ) {}

  vendorOf(row: Pick<VirtualKey, 'provider'>): Vendor {
    const vendor = this.vendors.find(row.provider);
    if (vendor === undefined) throw new Error(`a virtual key of an unknown provider: ${row.provider}`);
    return vendor;
  }

  /** @throws GatewayError `validation_failed` for options that the provider does not take */
  seal(row: KeyRow, config: JsonObject, key: string | undefined): SealedColumns {
    const vendor = this.vendorOf(row);
    checkProviderOptions(vendor, config, key, this.egress);
    const { open, secret } = splitOptions(vendor, config);
    return {
      options: open,
      sealedKey: this.vault.sealKey(row, key),
      sealedOptions: this.vault.sealOptions(row, secret),
    };
  }

  /** Lays an update over what is stored and seals the whole again. Masked secrets that come back count as unchanged. */
  reseal(row: VirtualKey, config: JsonObject, key: string | undefined): SealedColumns {
    const storedKey = this.vault.openKey(row);
    const secrets = this.vault.openOptions(row);
    const update = Object.entries(config).filter(([name, value]) => !isMaskOf(value, asString(secrets[name])));
    const merged = mergeOptions({ ...row.options, ...secrets }, Object.fromEntries(update));
    return this.seal(row, merged, key === undefined || isMaskOf(key, storedKey) ? storedKey : key);
  }

  open(row: VirtualKey): Credential {
    const options = toVendorOptions(this.vendorOf(row), { ...row.options, ...this.vault.openOptions(row) });
    return { key: this.vault.openKey(row), options, organisationId: row.organisationId };
  }

  toResponse(row: VirtualKey): VirtualKeyResponse {
    const key = this.vault.openKey(row);
    const secrets = Object.entries(this.vault.openOptions(row));
    return toVirtualKeyResponse(row, {
      key: key === undefined ? null : mask(key),
      options: Object.fromEntries(secrets.map(([name, value]) => [name, mask(String(value))])),
    });
  }
}

function asString(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
