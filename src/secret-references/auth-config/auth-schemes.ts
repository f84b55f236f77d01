import type { ManagerType } from '../managers/secret-manager.types.js';
import type { AuthScheme, Spelling } from './auth-scheme.types.js';
import { awsScheme } from './aws.scheme.js';
import { azureScheme } from './azure.scheme.js';
import { vaultScheme } from './vault.scheme.js';

const SCHEMES: Readonly<Record<ManagerType, AuthScheme>> = {
  cloudA_sm: awsScheme,
  cloudB_kv: azureScheme,
  vendorC_vault: vaultScheme,
};

/** The form of a manager's `auth_config`. */
export function authScheme(manager: ManagerType): AuthScheme {
  return SCHEMES[manager];
}

/** Every name that a `manager_type` may have. */
export const MANAGER_NAMES: readonly string[] = Object.values(SCHEMES).flatMap(({ names }) => [
  names.interface.managerType,
  names.vendor.managerType,
]);

/** The manager that a `manager_type` names, and the spelling of the name; undefined for an unknown one. */
export function readManagerName(name: string): { readonly type: ManagerType; readonly spelling: Spelling } | undefined {
  for (const { manager: type, names } of Object.values(SCHEMES)) {
    if (name === names.interface.managerType) return { type, spelling: 'interface' };
    if (name === names.vendor.managerType) return { type, spelling: 'vendor' };
  }
  return undefined;
}
