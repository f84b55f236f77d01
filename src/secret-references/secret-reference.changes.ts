import { isSameValue } from '../common/same-value.js';
import { withoutUndefined } from '../common/without-undefined.js';
import type { UpdateSecretReferenceDto } from './dto/secret-reference.dto.js';
import type { SealedColumns } from './secret-reference.credentials.js';
import type { SecretReference } from './secret-reference.entity.js';
import { accessOf, type WorkspaceAccess } from './workspace-access.js';

const PLAIN_FIELDS = [
  'name',
  'description',
  'secret_path',
  'secret_key',
  'secret_version',
  'allowed_hosts',
  'allowed_providers',
  'tags',
] as const;
type PlainField = (typeof PLAIN_FIELDS)[number];

/** Fields that decide what is fetched, how, and for whom: what was fetched before must not be used after their change. */
const FETCHED_ANEW = new Set([
  'auth_config',
  'secret_path',
  'secret_key',
  'secret_version',
  'allow_all_workspaces',
  'allowed_workspaces',
  'allowed_hosts',
  'allowed_providers',
]);

type ChangedColumns = Partial<Omit<SecretReference, 'id' | 'allowedWorkspaces'>>;

export interface Changes {
  /** Names of the fields that get another value. */
  readonly fields: readonly string[];
  readonly columns: ChangedColumns;
  readonly access: WorkspaceAccess;
}

/** What an update really changes. */
export function changesOf(
  row: SecretReference,
  dto: UpdateSecretReferenceDto,
  sealed: SealedColumns | undefined,
  access: WorkspaceAccess,
): Changes {
  const before = accessOf(row);
  const fields = [
    ...plainChanges(row, dto),
    ...(sealed === undefined ? [] : ['auth_config']),
    ...(access.allowAll === before.allowAll ? [] : ['allow_all_workspaces']),
    ...(isSameValue(access.workspaceIds, before.workspaceIds) ? [] : ['allowed_workspaces']),
  ];
  const columns = {
    ...withoutUndefined({ ...columnsOf(dto) }),
    ...sealed,
    allowAllWorkspaces: access.allowAll,
    revision: fields.some((field) => FETCHED_ANEW.has(field)) ? row.revision + 1 : row.revision,
  };
  return { fields, columns, access };
}

function columnsOf(dto: UpdateSecretReferenceDto) {
  const {
    name,
    description,
    secret_path: secretPath,
    secret_key: secretKey,
    secret_version: secretVersion,
    allowed_hosts: allowedHosts,
    allowed_providers: allowedProviders,
    tags,
  } = dto;
  return { name, description, secretPath, secretKey, secretVersion, allowedHosts, allowedProviders, tags };
}

function plainChanges(row: SecretReference, dto: UpdateSecretReferenceDto): readonly PlainField[] {
  const before: Readonly<Record<PlainField, unknown>> = {
    name: row.name,
    description: row.description,
    secret_path: row.secretPath,
    secret_key: row.secretKey,
    secret_version: row.secretVersion,
    allowed_hosts: row.allowedHosts,
    allowed_providers: row.allowedProviders,
    tags: row.tags,
  };
  return PLAIN_FIELDS.filter((name) => dto[name] !== undefined && !isSameValue(dto[name], before[name]));
}
