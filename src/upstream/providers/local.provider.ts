// The built-in provider ranks inside the gateway, so it has no address, no credential and no error body. Written
// 2026-11-21.
import { GatewayError } from '../../common/errors/gateway.error.js';
import { keyProblems } from './option-rules.js';
import type { BaseProviderOptions, ModelNames, Provider } from './provider.types.js';

/** No options: nothing leaves the gateway. */
export class LocalOptions implements BaseProviderOptions {}

export const local: Provider<LocalOptions> = {
  slug: 'local',
  name: 'Built-in',
  optionsClass: LocalOptions,
  key: 'none',
  checkOptions: (_options, key) => keyProblems('none', key),
  address() {
    throw new GatewayError('provider_not_supported');
  },
  probe: undefined,
};

/** All names mean the same model. */
export const localModelNames: ModelNames = { canonical: () => 'bm25', aliases: () => [] };
