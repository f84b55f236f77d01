import { withoutUndefined } from '../common/without-undefined.js';

/** A change, as it is written to the audit log. */
export interface AuditRecord {
  readonly action: string;
  readonly resourceType: string;
  readonly resourceId: string;
  /** null: the resource belongs to the organisation as a whole. */
  readonly workspaceId: string | null;
  readonly changedFields: readonly string[];
}

/** What a record needs to know of a resource. */
export interface AuditedResource {
  readonly id: string;
  readonly workspaceId: string | null;
}

/**
 * Makes the records of one kind of resource.
 * @param area before the verb in actions: `api_keys` in `api_keys.create`
 */
export function auditRecords<Verb extends string>(area: string, resourceType: string) {
  return (verb: Verb, resource: AuditedResource, changedFields: readonly string[]): AuditRecord => ({
    action: `${area}.${verb}`,
    resourceType,
    resourceId: resource.id,
    workspaceId: resource.workspaceId,
    changedFields,
  });
}

/** Names, as in the API, of the fields that a body sets. `organisation_id` is left out: it only chooses the tenant. */
export function namedFields(dto: object): readonly string[] {
  return Object.keys(withoutUndefined(dto)).filter((name) => name !== 'organisation_id');
}
