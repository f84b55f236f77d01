import type { CreateSecretReferenceRequest } from '../api/types.gen';

export type ManagerType = CreateSecretReferenceRequest['manager_type'];

export interface CredentialField {
  /** Behind the prefix of the manager. */
  readonly name: string;
  readonly title: string;
  readonly hint?: string;
  readonly isSecret?: true;
  readonly isOptional?: true;
}

interface Variant {
  readonly title: string;
  readonly fields: readonly CredentialField[];
}

interface Manager {
  readonly title: string;
  /** Of the names of its fields, by each of the two names of the manager. */
  readonly prefixes: Readonly<Partial<Record<ManagerType, string>>>;
  /** The field that names the variant, behind the prefix. */
  readonly discriminator: string;
  readonly variants: Readonly<Record<string, Variant>>;
  readonly pathHint: string;
}

const REGION: CredentialField = { name: 'region', title: 'Region', hint: 'For example eu-central-1.' };
const VAULT_URL: CredentialField = {
  name: 'vault_url',
  title: 'Address of the vault',
  hint: 'For example https://my-vault.vault.azure.net.',
};
const VAULT: readonly CredentialField[] = [
  { name: 'addr', title: 'Address', hint: 'For example https://vault.example.com:8200.' },
  { name: 'namespace', title: 'Namespace', isOptional: true },
];
const MOUNT: CredentialField = {
  name: 'auth_mount',
  title: 'Mount of the log-in method',
  hint: 'Empty: the name of the method.',
  isOptional: true,
};
const ROLE: CredentialField = { name: 'role', title: 'Role' };

/** The managers, with what each way to log in to them needs. */
const MANAGERS: readonly Manager[] = [
  {
    title: 'AWS Secrets Manager',
    prefixes: { aws_sm: 'aws_', cloudA_sm: 'cloudA_' },
    discriminator: 'auth_type',
    pathHint: 'Name or ARN of the secret.',
    variants: {
      accessKey: {
        title: 'An access key',
        fields: [
          { name: 'access_key_id', title: 'Access key id', isSecret: true },
          { name: 'secret_access_key', title: 'Secret access key', isSecret: true },
          { name: 'session_token', title: 'Session token', isSecret: true, isOptional: true },
          REGION,
        ],
      },
      assumedRole: {
        title: 'A role that the gateway assumes',
        fields: [
          {
            name: 'role_arn',
            title: 'ARN of the role',
            hint: 'Its trust policy must ask for the external id that the saved reference shows.',
          },
          REGION,
        ],
      },
      serviceRole: {
        title: "The gateway's own role",
        fields: [{ ...REGION, isOptional: true, hint: 'May be empty when the secret is named by its ARN.' }],
      },
    },
  },
  {
    title: 'Azure Key Vault',
    prefixes: { azure_kv: 'azure_', cloudB_kv: 'cloudB_' },
    discriminator: 'auth_mode',
    pathHint: 'Name of the secret.',
    variants: {
      entra: {
        title: 'An application of Entra ID',
        fields: [
          VAULT_URL,
          { name: 'entra_tenant_id', title: 'Tenant' },
          { name: 'entra_client_id', title: 'Client id' },
          { name: 'entra_client_secret', title: 'Client secret', isSecret: true },
        ],
      },
      managed: {
        title: 'A managed identity',
        fields: [
          VAULT_URL,
          { name: 'managed_client_id', title: 'Client id', hint: 'Empty: that of the machine.', isOptional: true },
        ],
      },
      default: { title: "The gateway's own identity", fields: [VAULT_URL] },
    },
  },
  {
    title: 'HashiCorp Vault',
    prefixes: { hashicorp_vault: 'vault_', vendorC_vault: 'vendorC_' },
    discriminator: 'auth_type',
    pathHint: 'Mount and path, for example secret/openai.',
    variants: {
      token: { title: 'A token', fields: [...VAULT, { name: 'token', title: 'Token', isSecret: true }] },
      approle: {
        title: 'AppRole',
        fields: [
          ...VAULT,
          { name: 'role_id', title: 'Role id' },
          { name: 'secret_id', title: 'Secret id', isSecret: true },
          MOUNT,
        ],
      },
      kubernetes: { title: 'Kubernetes', fields: [...VAULT, ROLE, MOUNT] },
      jwt: { title: 'JWT', fields: [...VAULT, ROLE, { name: 'jwt', title: 'JWT', isSecret: true }, MOUNT] },
    },
  },
];

/** The names that new references have. */
export const NEW_MANAGERS = ['aws_sm', 'azure_kv', 'hashicorp_vault'] as const satisfies readonly ManagerType[];

/** A manager under one of its two names, which decides the names of its fields. */
export interface NamedManager extends Manager {
  readonly prefix: string;
}

export function managerOf(type: string): NamedManager {
  for (const manager of MANAGERS) {
    const found = Object.entries(manager.prefixes).find(([name]) => name === type);
    if (found !== undefined) return { ...manager, prefix: found[1] };
  }
  throw new Error(`There is no manager ${type}.`);
}

export function isManager(text: string): text is ManagerType {
  return MANAGERS.some(({ prefixes }) => text in prefixes);
}
