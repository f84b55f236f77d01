import type { FieldProblem } from '../../common/errors/gateway.error.js';
import type { EgressPolicy } from '../../upstream/egress/egress-policy.js';
import type { AuthConfig, ManagerType } from '../managers/secret-manager.types.js';

/** What a secret reference says besides its `auth_config`. */
export interface SecretAddress {
  readonly path: string;
  readonly version: string | undefined;
}

export interface AuthRules {
  readonly egress: EgressPolicy;
  /** Setting AZURE_VAULT_HOSTS. */
  readonly azureVaultHosts: readonly string[];
}

/** `interface`: cloudA_sm and cloudA_*. `vendor`: aws_sm and aws_*. What is stored has the interface's names. */
export type Spelling = 'interface' | 'vendor';

interface Names {
  /** Value of `manager_type`, also in SECRET_IDENTITY_ALLOW. */
  readonly managerType: string;
  /** Before the names of the fields of `auth_config`. */
  readonly prefix: string;
}

/** How one manager's `auth_config` is formed: its variants and their fields, under the interface's names. */
export interface AuthScheme {
  readonly manager: ManagerType;
  readonly names: Readonly<Record<Spelling, Names>>;
  /** The field that names the variant: `cloudA_auth_type`. */
  readonly discriminator: string;
  /** class-validator class of each variant; the discriminator is a field of every one. */
  readonly variants: Readonly<Record<string, new () => object>>;
  /** The field with the address that receives the credentials; none where the hosts are the provider's own. */
  readonly hostField?: string;
  /** Sealed at rest, and shown only masked. */
  readonly sensitive: ReadonlySet<string>;
  /** The field that the gateway makes for a variant, and that no caller may choose. */
  readonly generated?: { readonly variant: string; readonly field: string };
  /** Checks rules between fields, on a config whose fields are each valid. */
  problems(config: AuthConfig, address: SecretAddress, rules: AuthRules): readonly FieldProblem[];
  /**
   * What SECRET_IDENTITY_ALLOW must allow, for variants that use the gateway's own identity; undefined for the others.
   */
  identityTarget(config: AuthConfig, address: SecretAddress): string | undefined;
}
