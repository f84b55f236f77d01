import { MANAGER_TYPES, type ManagerType } from '../managers/secret-manager.types.js';

/** `interface`: cloudA_sm and cloudA_*. `vendor`: aws_sm and aws_*. What is stored has the interface's names. */
export type Spelling = 'interface' | 'vendor';

interface Names {
  readonly managerType: string;
  readonly prefix: string;
}

/** The synonyms of the API; those of settings are in `config/secret-settings.ts`. */
const NAMES: Readonly<Record<ManagerType, Readonly<Record<Spelling, Names>>>> = {
  cloudA_sm: {
    interface: { managerType: 'cloudA_sm', prefix: 'cloudA_' },
    vendor: { managerType: 'aws_sm', prefix: 'aws_' },
  },
  cloudB_kv: {
    interface: { managerType: 'cloudB_kv', prefix: 'cloudB_' },
    vendor: { managerType: 'azure_kv', prefix: 'azure_' },
  },
  vendorC_vault: {
    interface: { managerType: 'vendorC_vault', prefix: 'vendorC_' },
    vendor: { managerType: 'hashicorp_vault', prefix: 'vault_' },
  },
};

/** Every name that a `manager_type` may have. */
export const MANAGER_NAMES: readonly string[] = MANAGER_TYPES.flatMap((type) => [
  NAMES[type].interface.managerType,
  NAMES[type].vendor.managerType,
]);

/** What a `manager_type` means; undefined for an unknown one. */
export function readManagerName(name: string): { readonly type: ManagerType; readonly spelling: Spelling } | undefined {
  for (const type of MANAGER_TYPES) {
    if (name === NAMES[type].interface.managerType) return { type, spelling: 'interface' };
    if (name === NAMES[type].vendor.managerType) return { type, spelling: 'vendor' };
  }
  return undefined;
}

export function managerName(type: ManagerType, spelling: Spelling): string {
  return NAMES[type][spelling].managerType;
}

/** The interface's name of a field of `auth_config`, whichever it has. */
export function toInterfaceName(type: ManagerType, field: string): string {
  const { interface: own, vendor } = NAMES[type];
  return field.startsWith(vendor.prefix) ? own.prefix + field.slice(vendor.prefix.length) : field;
}

/** The name that a field of `auth_config` has in a spelling. `field` has the interface's name. */
export function toSpelling(type: ManagerType, spelling: Spelling, field: string): string {
  const { interface: own, [spelling]: wanted } = NAMES[type];
  return field.startsWith(own.prefix) ? wanted.prefix + field.slice(own.prefix.length) : field;
}
