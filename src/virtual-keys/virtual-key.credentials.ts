import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { GatewayError } from '../common/errors/gateway.error.js';
import type { JsonObject } from '../common/json/read.js';
import { Clock } from '../common/time/clock.js';
import { mask } from '../common/mask.js';
import { decryptOr, incompleteUpdate, openObject, openSealed, sealObject } from '../sealing/decrypted.js';
import { placeIn, Sealer } from '../sealing/sealer.js';
import { type MappedTargets, readTargets, targetsAfter } from '../secret-references/mapped-resource/mapped-targets.js';
import {
  type Freshness,
  type LoadedMapping,
  MappedValues,
  mappedValuesNotValid,
} from '../secret-references/mapped-resource/mapped-values.js';
import {
  assertSameHosts,
  type Fields,
  maskAll,
  mergeFields,
  NO_FIELDS,
} from '../secret-references/mapped-resource/sealed-config.js';
import { EgressPolicy } from '../upstream/egress/egress-policy.js';
import { ProviderRegistry } from '../upstream/providers/provider.registry.js';
import type { Credential, Provider } from '../upstream/providers/provider.types.js';
import { sensitiveFields } from '../upstream/providers/sensitive.decorator.js';
import type { CreateVirtualKeyDto, UpdateVirtualKeyDto } from './dto/virtual-key.dto.js';
import {
  checkFields,
  destinationOf,
  fromFields,
  KEY,
  type KeyAndConfig,
  sealedConfigOf,
  toFields,
  toProviderOptions,
} from './provider-fields.js';
import type { VirtualKey } from './virtual-key.entity.js';
import { toVirtualKeyResponse, type VirtualKeyResponse } from './virtual-key.response.js';

/** The columns that hold a virtual key's credential and options. */
type SealedColumns = Pick<VirtualKey, 'options' | 'sealedKey' | 'sealedOptions'>;
type ProviderRow = Pick<VirtualKey, 'provider'>;
type NewRow = ProviderRow & Pick<VirtualKey, 'id' | 'organisationId'>;
type NewCredential = Pick<CreateVirtualKeyDto, 'key' | 'config' | 'secret_mappings'>;

/** A virtual key with the secret references behind it: what its credential is made of. */
export interface CredentialSource {
  readonly row: VirtualKey;
  /** Empty: everything is stored. */
  readonly mappings: readonly LoadedMapping[];
}

/** Shown masked, like every secret. */
const UNREADABLE = '';

const keyPlace = placeIn('virtual_keys', 'sealed_key');
const optionsPlace = placeIn('virtual_keys', 'sealed_options');

/** The credential and options of virtual keys: checked when they come in, sealed at rest, masked in answers, opened for use. */
@Injectable()
export class VirtualKeyCredentials {
  constructor(
    private readonly providers: ProviderRegistry,
    private readonly sealer: Sealer,
    private readonly egress: EgressPolicy,
    private readonly values: MappedValues,
    private readonly clock: Clock,
  ) {}

  providerOf(row: ProviderRow): Provider {
    const provider = this.providers.find(row.provider);
    if (provider === undefined) throw new Error(`a virtual key of an unknown provider: ${row.provider}`);
    return provider;
  }

  /** @throws GatewayError `validation_failed` for mappings to fields that the provider does not have, or that are given as well */
  readTargets(row: ProviderRow, given: NewCredential): MappedTargets {
    return readTargets(sealedConfigOf(this.providerOf(row)), given.secret_mappings ?? [], toFields(given));
  }

  /** @throws GatewayError `validation_failed` for options that the provider does not take, and for masks instead of secrets */
  check(row: ProviderRow, given: KeyAndConfig, mapped: MappedTargets): Fields {
    const provider = this.providerOf(row);
    const update = { stored: NO_FIELDS, given: toFields(given), mapped };
    const { fields } = mergeFields(sealedConfigOf(provider), update);
    checkFields(provider, fields, this.egress, mapped);
    return fields;
  }

  /** Throws as `check` and `readTargets`. */
  seal(row: NewRow, given: NewCredential): SealedColumns {
    return this.sealed(row, this.check(row, given, this.readTargets(row, given)));
  }

  /**
   * Merges an update into what is stored. Returns nothing to write when nothing changes. A secret that does not decrypt can
   * be replaced, if the update sends all secrets of its column.
   * @throws GatewayError `validation_failed`, also when a secret would reach another host than it was stored for;
   * `secret_unavailable` when the update leaves out a stored secret that does not decrypt
   */
  reseal(row: VirtualKey, update: UpdateVirtualKeyDto): Partial<SealedColumns> {
    const { key, config, secret_mappings: wanted } = update;
    if (key === undefined && config === undefined && wanted === undefined) return {};
    const provider = this.providerOf(row);
    const rules = sealedConfigOf(provider);
    const given = toFields(update);
    const mapped = targetsAfter(rules, row.secretMappings, wanted, given);
    const ownKey = decryptOr(() => this.openKey(row), undefined);
    const ownOptions = decryptOr(() => this.openOptions(row), {});
    const before = toFields({ key: ownKey.value, config: { ...row.options, ...ownOptions.value } });
    const { fields: after, kept } = mergeFields(rules, { stored: before, given, mapped });
    if (ownKey.failure !== undefined && !given.has(KEY) && !mapped.has(KEY)) {
      throw incompleteUpdate(ownKey.failure, 'Send again: key.');
    }
    if (ownOptions.failure !== undefined) assertAllOptions(ownOptions.failure, provider, given, mapped);
    checkFields(provider, after, this.egress, mapped);
    assertSameHosts(rules, { before, after, kept, keptMappings: wanted === undefined ? mapped.keys() : [] });
    const isReadable = ownKey.failure === undefined && ownOptions.failure === undefined;
    return isReadable && isDeepStrictEqual(before, after) ? {} : this.sealed(row, after);
  }

  /** @param show what a response has in place of a secret */
  toResponse(row: VirtualKey, show = mask): VirtualKeyResponse {
    const key = decryptOr(() => this.openKey(row), UNREADABLE).value;
    const options = decryptOr(() => this.openOptions(row), {}).value;
    return toVirtualKeyResponse(row, this.clock.now(), {
      key: key === undefined ? null : show(key),
      options: maskAll(options, show),
    });
  }

  /** @throws GatewayError `secret_unavailable` */
  async sourceOf(row: VirtualKey): Promise<CredentialSource> {
    const { secretMappings } = row;
    return { row, mappings: secretMappings.length === 0 ? [] : await this.values.load(row, secretMappings) };
  }

  /**
   * Opens a virtual key for use.
   * @param freshness `fresh` after the provider has refused the credential
   * @throws GatewayError `secret_unavailable` when a secret does not decrypt or cannot be read, and for mapped values that the
   * provider does not take; its reason names the fields
   */
  async open({ row, mappings }: CredentialSource, freshness: Freshness = 'cached'): Promise<Credential> {
    const { organisationId } = row;
    const provider = this.providerOf(row);
    const values = mappings.length === 0 ? NO_FIELDS : await this.values.read(mappings, freshness);
    const stored = toFields({ key: this.openKey(row), config: { ...row.options, ...this.openOptions(row) } });
    const { key, config } = values.size === 0 ? fromFields(stored) : this.withMapped(provider, stored, values);
    const options = toProviderOptions(provider, config);
    if (mappings.length === 0) return { key, options, organisationId };
    this.values.assertDestinations(mappings, () => destinationOf(provider, config, new Set()));
    const allowedHosts = mappings.flatMap(({ reference }) => (reference.allowedHosts ? [reference.allowedHosts] : []));
    // The address of a call may depend on its model: each call is checked as well.
    return { key, options, organisationId, ...(allowedHosts.length > 0 && { allowedHosts }) };
  }

  /** Calls back when credentials that were opened before must not be used any more. */
  onChange(listener: () => void): void {
    this.values.onChange(listener);
  }

  /** Mapped values are checked at every use. A rule that they break is not a mistake of the request. */
  private withMapped(provider: Provider, stored: Fields, values: Fields): ReturnType<typeof fromFields> {
    try {
      const whole = new Map([...stored, ...values]);
      checkFields(provider, whole, this.egress);
      return fromFields(whole);
    } catch (cause) {
      if (!(cause instanceof GatewayError) || cause.code !== 'validation_failed') throw cause;
      throw mappedValuesNotValid('virtual key', new Set(cause.details?.map(({ param }) => param ?? 'body')));
    }
  }

  private sealed(row: NewRow, fields: Fields): SealedColumns {
    const { key, config } = fromFields(fields);
    const sensitive = new Set(sensitiveFields(this.providerOf(row).optionsClass));
    const options = Object.entries(config);
    const secrets = Object.fromEntries(options.filter(([option]) => sensitive.has(option)));
    return {
      options: Object.fromEntries(options.filter(([option]) => !sensitive.has(option))),
      sealedKey: key === undefined ? null : this.sealer.seal(key, keyPlace(row)),
      sealedOptions: sealObject(this.sealer, secrets, optionsPlace(row)),
    };
  }

  private openKey(row: VirtualKey): string | undefined {
    return row.sealedKey === null ? undefined : openSealed(this.sealer, row.sealedKey, keyPlace(row));
  }

  private openOptions(row: VirtualKey): JsonObject {
    return openObject(this.sealer, row.sealedOptions, optionsPlace(row));
  }
}

/** Until they decrypt it is not known which options are sealed: it may be any secret that the provider has. */
function assertAllOptions(failure: GatewayError, provider: Provider, given: Fields, mapped: MappedTargets): void {
  const secrets = sensitiveFields(provider.optionsClass).map((option) => `config.${option}`);
  const missing = secrets.filter((field) => !given.has(field) && !mapped.has(field));
  if (missing.length > 0) throw incompleteUpdate(failure, `Send again, or set to null: ${missing.join(', ')}.`);
}
