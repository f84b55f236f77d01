import { foldId } from '../common/uuid.js';

/** Normalises names of a call that have one spelling. Models have several: see model-names.ts. */
export const NAME_FOLDS = {
  api_key: foldId,
  organisation_id: foldId,
  workspace_id: foldId,
  provider: toLowerCase,
  endpoint: toLowerCase,
} as const;

/** The names of a call in reports and in the ledger. */
interface NamedCall {
  readonly api_key?: string;
  readonly provider?: string;
  readonly endpoint?: string;
}

/** Normalises names as in policies and the ledger. */
export function foldNames({ api_key, provider, endpoint }: NamedCall): NamedCall {
  return {
    api_key: api_key === undefined ? undefined : NAME_FOLDS.api_key(api_key),
    provider: provider === undefined ? undefined : NAME_FOLDS.provider(provider),
    endpoint: endpoint === undefined ? undefined : NAME_FOLDS.endpoint(endpoint),
  };
}

function toLowerCase(name: string): string {
  return name.toLowerCase();
}
