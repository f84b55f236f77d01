import { MAX_METADATA_LENGTH } from '../common/constants.js';

const PREFIX = 'metadata.';

/** The name of a value of a call's metadata in policies and reports: `metadata.user`. */
export type MetadataKey = `metadata.${string}`;

export function isMetadataKey(key: string): key is MetadataKey {
  return key.startsWith(PREFIX) && key.length > PREFIX.length && key.length <= PREFIX.length + MAX_METADATA_LENGTH;
}

/** Returns `user` for `metadata.user`. */
export function metadataNameOf(key: MetadataKey): string {
  return key.slice(PREFIX.length);
}
