/** Of the metadata of a request: names and values, each in UTF-16 units, and how many of them. */
export const MAX_METADATA_LENGTH = 128;
export const MAX_METADATA_KEYS = 32;
