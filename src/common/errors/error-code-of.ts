import { isNativeError } from 'node:util/types';

/** The `code` of an error of Node or of a driver. Unlike `instanceof Error`, this also knows errors of other realms. */
export function errorCodeOf(error: unknown): string | undefined {
  return isNativeError(error) && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
