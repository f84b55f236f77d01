import { Injectable } from '@nestjs/common';
import { type LoadedMapping, SecretValues } from '../secret-references/secret-values.js';
import type { Credential } from '../upstream/providers/provider.types.js';
import { VirtualKeyCredentials } from './virtual-key.credentials.js';
import type { VirtualKey } from './virtual-key.entity.js';

/** A virtual key with the secret references behind it: what its credential is made of. */
export interface CredentialSource {
  readonly row: VirtualKey;
  /** Empty: everything is stored. */
  readonly mappings: readonly LoadedMapping[];
}

/** Makes the credential of a virtual key from what is stored and what secret references say. */
@Injectable()
export class VirtualKeyOpener {
  constructor(
    private readonly credentials: VirtualKeyCredentials,
    private readonly values: SecretValues,
  ) {}

  /** @throws GatewayError `secret_unavailable` */
  async sourceOf(row: VirtualKey): Promise<CredentialSource> {
    const { secretMappings } = row;
    return { row, mappings: secretMappings.length === 0 ? [] : await this.values.load(row, secretMappings) };
  }

  /** @throws GatewayError `secret_unavailable` */
  async open({ row, mappings }: CredentialSource): Promise<Credential> {
    if (mappings.length === 0) return this.credentials.open(row);
    return this.credentials.openWith(row, await this.values.read(mappings));
  }

  /**
   * The same after the provider has refused the credential: secrets are read anew, unless that was done moments ago.
   * @throws GatewayError `secret_unavailable`
   */
  async openAgain({ row, mappings }: CredentialSource): Promise<Credential> {
    if (mappings.length === 0) return this.credentials.open(row);
    return this.credentials.openWith(row, await this.values.readAgain(mappings));
  }

  /** Told when credentials that were opened before must not be used any more. */
  onChange(listener: () => void): void {
    this.values.onChange(listener);
  }
}
