import { Injectable } from '@nestjs/common';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { type SecretDocument, SecretError } from '../managers/secret-manager.types.js';
import { readSecretValue } from '../read-secret-value.js';
import type { MappedField } from '../secret-mapping.entity.js';
import type { SecretReference } from '../secret-reference.entity.js';
import { SecretReferenceStore } from '../secret-reference.store.js';
import { SecretResolver } from '../secret-resolver.js';
import { type SecretDestination, whyNotSentTo } from '../secret-destination.js';
import { accessOf, mayUse } from '../workspace-access.js';

/** A mapping with the reference that it names. */
export interface LoadedMapping extends MappedField {
  readonly reference: SecretReference;
}

/** `fresh`: not from the cache. */
export type Freshness = 'cached' | 'fresh';

/** Values by target field. In memory only. */
export type SecretFieldValues = ReadonlyMap<string, unknown>;

/** The values of the fields that are mapped to secret references. */
@Injectable()
export class MappedValues {
  constructor(
    private readonly store: SecretReferenceStore,
    private readonly resolver: SecretResolver,
  ) {}

  /**
   * The references behind the mappings of a resource.
   * @throws GatewayError `secret_unavailable` when the resource may not use one of them any more
   */
  async load(
    { organisationId, workspaceId }: { readonly organisationId: string; readonly workspaceId: string | null },
    mappings: readonly MappedField[],
  ): Promise<readonly LoadedMapping[]> {
    const ids = [...new Set(mappings.map((mapping) => mapping.secretReferenceId))];
    const found = await this.store.findForUse(organisationId, ids);
    const references = new Map(found.map((reference) => [reference.id, reference]));
    return mappings.map((mapping) => {
      const reference = references.get(mapping.secretReferenceId);
      if (reference === undefined || !mayUse(accessOf(reference), workspaceId)) {
        throw unavailable(mapping.secretReferenceId, new SecretError('workspace_not_allowed', 'checked at use'));
      }
      return { ...mapping, reference };
    });
  }

  /**
   * Call it before the values are sent: what a reference allows may have changed since it was mapped.
   * @throws GatewayError `secret_unavailable` for a reference whose value may not be sent to where its field is sent
   */
  assertDestinations(
    mappings: readonly LoadedMapping[],
    destinationOf: (targetField: string) => SecretDestination,
  ): void {
    for (const { reference, targetField } of mappings) {
      const problem = whyNotSentTo(reference, destinationOf(targetField));
      if (problem === undefined) continue;
      throw unavailable(reference.id, new SecretError('destination_not_allowed', problem));
    }
  }

  /**
   * @param freshness `fresh` after the values were refused: secrets are fetched again, unless that was done moments ago
   * @throws GatewayError `secret_unavailable`, whose reason is the code of what went wrong
   */
  async read(mappings: readonly LoadedMapping[], freshness: Freshness): Promise<SecretFieldValues> {
    const entries = mappings.map(async ({ reference, targetField, secretKey, valueFormat }) => {
      try {
        const document = await this.documentOf(reference, freshness);
        const value = readSecretValue(document, { secretKey: secretKey ?? reference.secretKey, valueFormat });
        return [targetField, value] as const;
      } catch (error) {
        throw error instanceof SecretError ? unavailable(reference.id, error) : error;
      }
    });
    return new Map(await Promise.all(entries));
  }

  /** Calls back after every change of a reference on this replica: values that were read before must not be used after it. */
  onChange(listener: () => void): void {
    this.resolver.onForget(listener);
  }

  private documentOf(reference: SecretReference, freshness: Freshness): Promise<SecretDocument> {
    return freshness === 'fresh' ? this.resolver.refresh(reference) : this.resolver.resolve(reference);
  }
}

/** Secrets were read, but are not valid for the fields that they are mapped to. */
export class MappedValuesError extends Error {
  constructor(fields: Iterable<string>) {
    super(`not valid: ${[...fields].join(', ')}`);
    this.name = 'MappedValuesError';
  }
}

/** @param owner the kind of resource, for the log line, which also names the fields */
export function mappedValuesNotValid(owner: string, fields: Iterable<string>): GatewayError {
  const cause = new MappedValuesError(fields);
  const reason = `with the values of its secret references the ${owner} is ${cause.message}`;
  return new GatewayError('secret_unavailable', { reason, cause });
}

function unavailable(referenceId: string, cause: SecretError): GatewayError {
  return new GatewayError('secret_unavailable', { reason: `${cause.code}: secret reference ${referenceId}`, cause });
}
