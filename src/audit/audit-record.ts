import { originOf } from '../common/http/origin.js';
import { withoutUndefined } from '../common/without-undefined.js';
import { type AuditChanges, changesBetween, type Snapshots } from './audit-changes.js';

/** A change, as it is written to the audit log. */
export interface AuditRecord {
  readonly action: string;
  readonly resourceType: string;
  readonly resourceId: string;
  readonly resourceName: string | null;
  /** null: the resource belongs to the organisation as a whole. */
  readonly workspaceId: string | null;
  readonly changedFields: readonly string[];
  readonly changes: AuditChanges;
  /** The user for whom a changed API key speaks. */
  readonly user?: AuditedUser | null | undefined;
}

/** Who an API key says its user is. */
export interface AuditedUser {
  readonly user_id: string;
  readonly email?: string | undefined;
  readonly username?: string | undefined;
  readonly sub?: string | undefined;
}

/** What a record needs to know of a resource. Without a name, its slug or the origin of its URL stands for it. */
export interface AuditedResource {
  readonly id: string;
  readonly workspaceId: string | null;
  readonly name?: string | null;
  readonly slug?: string;
  readonly url?: string;
}

/**
 * Makes the records of one kind of resource.
 * @param area before the verb in actions: `api_keys` in `api_keys.create`
 */
export function auditRecords<Verb extends string>(area: string, resourceType: string) {
  return (
    verb: Verb,
    resource: AuditedResource,
    changedFields: readonly string[],
    snapshots: Snapshots = {},
  ): AuditRecord => ({
    action: `${area}.${verb}`,
    resourceType,
    resourceId: resource.id,
    resourceName:
      resource.name ?? resource.slug ?? (resource.url === undefined ? null : (originOf(resource.url) ?? '')),
    workspaceId: resource.workspaceId,
    changedFields,
    changes: changesBetween(snapshots),
  });
}

/** Names, as in the API, of the fields that a body sets. `organisation_id` is left out: it only chooses the tenant. */
export function namedFields(dto: object): readonly string[] {
  return Object.keys(withoutUndefined(dto)).filter((name) => name !== 'organisation_id');
}
