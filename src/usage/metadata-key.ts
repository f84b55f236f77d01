import { MAX_METADATA_LENGTH } from '../common/constants.js';

const PREFIX = 'metadata.';

/** What policies and reports call a value of a call's metadata: `metadata.user`. */
export type MetadataKey = `metadata.${string}`;

export function isMetadataKey(key: string): key is MetadataKey {
  return key.startsWith(PREFIX) && key.length > PREFIX.length && key.length <= PREFIX.length + MAX_METADATA_LENGTH;
}

/** `user` of `metadata.user`. */
export function metadataNameOf(key: MetadataKey): string {
  return key.slice(PREFIX.length);
}
