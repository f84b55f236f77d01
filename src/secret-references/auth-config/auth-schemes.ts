import type { ManagerType } from '../managers/secret-manager.types.js';
import type { AuthScheme } from './auth-scheme.types.js';
import { awsScheme } from './aws.scheme.js';
import { azureScheme } from './azure.scheme.js';
import { vaultScheme } from './vault.scheme.js';

const SCHEMES: Readonly<Record<ManagerType, AuthScheme>> = {
  cloudA_sm: awsScheme,
  cloudB_kv: azureScheme,
  vendorC_vault: vaultScheme,
};

/** What the `auth_config` of a manager looks like. */
export function authScheme(manager: ManagerType): AuthScheme {
  return SCHEMES[manager];
}
