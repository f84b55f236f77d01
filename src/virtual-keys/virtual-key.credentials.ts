import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { GatewayError, invalidField } from '../common/errors/gateway.error.js';
import type { JsonObject } from '../common/json/read.js';
import { isMaskOf, isStaleMask, mask, staleMask } from '../common/mask.js';
import { isOtherHost, mustResend } from '../common/secret-destination.js';
import { incompleteUpdate, decryptOr } from '../sealing/decrypted.js';
import { mappedValuesNotValid } from '../secret-references/mapped-values.error.js';
import type { SecretFieldValues } from '../secret-references/secret-values.js';
import { EgressPolicy } from '../upstream/egress/egress-policy.js';
import { sensitiveFields } from '../upstream/providers/sensitive.decorator.js';
import type { Credential, Provider } from '../upstream/providers/provider.types.js';
import { ProviderRegistry } from '../upstream/providers/provider.registry.js';
import type { UpdateVirtualKeyDto } from './dto/virtual-key.dto.js';
import {
  assertAddressIsOurs,
  type InlineFields,
  merge,
  type MappedFields,
  NO_FIELDS,
  withoutMapped,
} from './mapped-fields.js';
import { checkProviderOptions, mergeOptions, splitOptions, toProviderOptions } from './provider-options.js';
import type { VirtualKey } from './virtual-key.entity.js';
import { toVirtualKeyResponse, type VirtualKeyResponse } from './virtual-key.response.js';
import { VirtualKeyEncryptor } from './virtual-key.encryption.js';

/** The columns that hold a virtual key's credential and options. */
export type SealedColumns = Pick<VirtualKey, 'options' | 'sealedKey' | 'sealedOptions'>;

/** As an update has it: null for a key that goes, nothing for what stays. */
type GivenCredential = Pick<UpdateVirtualKeyDto, 'key' | 'config'>;

type ProviderRow = Pick<VirtualKey, 'provider'>;
type KeyRow = ProviderRow & Pick<VirtualKey, 'id' | 'organisationId'>;

/** Shown masked, like every secret. */
const UNREADABLE = '';
const SENT_AGAIN = mustResend('config.base_url');

/** What a virtual key holds for its provider: checked on the way in, sealed at rest, masked on the way out. */
@Injectable()
export class VirtualKeyCredentials {
  constructor(
    private readonly providers: ProviderRegistry,
    private readonly vault: VirtualKeyEncryptor,
    private readonly egress: EgressPolicy,
  ) {}

  providerOf(row: ProviderRow): Provider {
    const provider = this.providers.find(row.provider);
    if (provider === undefined) throw new Error(`a virtual key of an unknown provider: ${row.provider}`);
    return provider;
  }

  /** @throws GatewayError `validation_failed` for options that the provider does not take, and for masks instead of secrets */
  check(row: ProviderRow, config: JsonObject, key: string | undefined, mapped: MappedFields): void {
    assertNoStaleMask(
      { key, config: splitOptions(this.providerOf(row), config).secret },
      { key: undefined, config: {} },
    );
    this.checkOptions(row, config, key, mapped);
  }

  /** Throws as `check`. */
  seal(row: KeyRow, config: JsonObject, key: string | undefined, mapped: MappedFields = NO_FIELDS): SealedColumns {
    this.check(row, config, key, mapped);
    return this.sealed(row, config, key);
  }

  /**
   * Lays an update over what is stored and seals the whole again, if it is not the same. Masked secrets that come back count as
   * unchanged, and what is stored for a mapped field goes. What does not open is replaced when the update brings all of it.
   * @throws GatewayError `validation_failed` also for masks of what is not stored, and when stored secrets would go to another
   * host than they were stored for; `secret_unavailable` when it leaves out a stored secret that does not open
   */
  reseal(row: VirtualKey, { key, config = {} }: GivenCredential, mapped: MappedFields): Partial<SealedColumns> {
    const provider = this.providerOf(row);
    const ownKey = decryptOr(() => (mapped.has('key') ? undefined : this.vault.openKey(row)), undefined);
    const ownOptions = decryptOr(() => this.vault.openOptions(row), {});
    const storedKey = ownKey.value;
    const secrets = withoutMapped(ownOptions.value, mapped);
    const given = { key: key ?? undefined, config: splitOptions(provider, config).secret };
    assertNoStaleMask(given, { key: storedKey, config: secrets });
    if (ownKey.failure !== undefined && key === undefined) throw incompleteUpdate(ownKey.failure, 'Send again: key.');
    if (ownOptions.failure !== undefined) assertAllOptions(ownOptions.failure, provider, given.config, mapped);
    const isKeyKept = key === undefined || isMaskOf(key, storedKey);
    const newKey = isKeyKept ? storedKey : given.key;
    const update = Object.fromEntries(
      Object.entries(config).filter(([name, value]) => !isMaskOf(value, asString(secrets[name]))),
    );
    const merged = mergeOptions(provider, { ...withoutMapped(row.options, mapped), ...secrets }, update);
    this.checkOptions(row, merged, newKey, mapped);
    if (isOtherHost(row.options['base_url'], merged['base_url'])) {
      const kept = Object.keys(secrets).find((name) => !(name in update));
      if (storedKey !== undefined && isKeyKept) throw invalidField('key', SENT_AGAIN);
      if (kept !== undefined) throw invalidField(`config.${kept}`, SENT_AGAIN);
    }
    return this.isStored(row, newKey, merged) ? {} : this.sealed(row, merged, newKey);
  }

  /** Whether that is what is stored. What does not open, nobody knows. */
  private isStored(row: VirtualKey, key: string | undefined, config: JsonObject): boolean {
    const { value, failure } = decryptOr<InlineFields | undefined>(() => this.inlineFieldsOf(row), undefined);
    return failure === undefined && isDeepStrictEqual(value, { key, config });
  }

  /** @throws GatewayError `secret_unavailable` when a stored secret does not open */
  open(row: VirtualKey): Credential {
    const { organisationId } = row;
    const { key, config } = this.inlineFieldsOf(row);
    return { key, options: toProviderOptions(this.providerOf(row), config), organisationId };
  }

  /**
   * The same with the values of the mapped fields, which nobody has checked yet.
   * @throws GatewayError `secret_unavailable` also for values that the provider does not take; its reason names the fields
   */
  openWith(row: VirtualKey, values: SecretFieldValues): Credential {
    const { organisationId } = row;
    const provider = this.providerOf(row);
    const { key, config } = withKnownReason(() => {
      const whole = merge(this.inlineFieldsOf(row), values);
      checkProviderOptions(provider, whole.config, whole.key, this.egress);
      return whole;
    });
    return { key, options: toProviderOptions(provider, config), organisationId };
  }

  toResponse(row: VirtualKey): VirtualKeyResponse {
    const key = decryptOr(() => this.vault.openKey(row), UNREADABLE).value;
    const secrets = Object.entries(decryptOr(() => this.vault.openOptions(row), {}).value);
    return toVirtualKeyResponse(row, {
      key: key === undefined ? null : mask(key),
      options: Object.fromEntries(secrets.map(([name, value]) => [name, mask(String(value))])),
    });
  }

  private checkOptions(row: ProviderRow, config: JsonObject, key: string | undefined, mapped: MappedFields): void {
    const provider = this.providerOf(row);
    checkProviderOptions(provider, config, key, this.egress, mapped);
    assertAddressIsOurs(mapped, key, splitOptions(provider, config).secret);
  }

  private sealed(row: KeyRow, config: JsonObject, key: string | undefined): SealedColumns {
    const { open, secret } = splitOptions(this.providerOf(row), config);
    return {
      options: open,
      sealedKey: this.vault.sealKey(row, key),
      sealedOptions: this.vault.sealOptions(row, secret),
    };
  }

  private inlineFieldsOf(row: VirtualKey): InlineFields {
    return { key: this.vault.openKey(row), config: { ...row.options, ...this.vault.openOptions(row) } };
  }
}

/** A mask tells which secret the caller saw. When that is no longer the stored one, the caller should know. */
function assertNoStaleMask(given: InlineFields, stored: InlineFields): void {
  if (isStaleMask(given.key, stored.key)) throw invalidField('key', staleMask());
  const [name] =
    Object.entries(given.config).find(([option, value]) => isStaleMask(value, asString(stored.config[option]))) ?? [];
  if (name !== undefined) throw invalidField(`config.${name}`, staleMask());
}

/** Which options are sealed, nobody knows until they open: it may be any that the provider has. */
function assertAllOptions(failure: GatewayError, provider: Provider, given: JsonObject, mapped: MappedFields): void {
  const fields = sensitiveFields(provider.optionsClass).filter((name) => !Object.hasOwn(given, name));
  const missing = fields.map((name) => `config.${name}`).filter((field) => !mapped.has(field));
  if (missing.length > 0) throw incompleteUpdate(failure, `Send again, or set to null: ${missing.join(', ')}.`);
}

/** A rule that mapped values break is no fault of the request. */
function withKnownReason<Value>(work: () => Value): Value {
  try {
    return work();
  } catch (cause) {
    if (!(cause instanceof GatewayError) || cause.code !== 'validation_failed') throw cause;
    const fields = cause.details?.map(({ param }) => param ?? 'body') ?? [];
    throw mappedValuesNotValid('virtual key', new Set(fields));
  }
}

/**
 * For an update that says nothing of secret mappings.
 * @throws GatewayError `validation_failed` when mapped secrets would go to another host than they were mapped for
 */
export function assertMappedForHost(before: JsonObject, after: JsonObject, mapped: MappedFields): void {
  if (mapped.size > 0 && isOtherHost(before['base_url'], after['base_url'])) {
    throw invalidField('secret_mappings', SENT_AGAIN);
  }
}

function asString(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
