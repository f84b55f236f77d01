// Built in: ranks inside the gateway, so there is no address, no credential and no error body. Written 2026-11-21.
import { GatewayError } from '../../common/errors/gateway.error.js';
import { keyProblems } from './option-rules.js';
import type { BaseVendorOptions, ModelNames, Vendor } from './vendor.types.js';

/** No options: nothing leaves the gateway. */
export class LocalOptions implements BaseVendorOptions {}

export const local: Vendor<LocalOptions> = {
  slug: 'local',
  name: 'Built-in',
  optionsClass: LocalOptions,
  key: 'none',
  checkOptions: (_options, key) => keyProblems('none', key),
  address() {
    throw new GatewayError('provider_not_supported');
  },
  readError: () => undefined,
  probe: undefined,
};

/** The same answers, whatever model is named. */
export const localModelNames: ModelNames = { canonical: () => 'bm25', aliases: () => [] };
