import { GatewayError } from '../common/errors/gateway.error.js';
import { isObject, type JsonObject } from '../common/json/read.js';
import { SealError, type SealedPlace, type Sealer } from './sealer.js';

/** What opens, or what to go on with in its place, and why. */
export interface Decrypted<Value> {
  readonly value: Value;
  readonly failure: GatewayError | undefined;
}

/**
 * @param message for the caller, where that of the code does not say enough
 * @throws GatewayError `secret_unavailable` when the value is damaged or its master key is not configured
 */
export function openSealed(sealer: Sealer, sealed: string, place: SealedPlace, message?: string): string {
  try {
    return sealer.open(sealed, place);
  } catch (cause) {
    if (!(cause instanceof SealError)) throw cause;
    throw new GatewayError('secret_unavailable', { ...(message && { message }), reason: cause.message, cause });
  }
}

/** Seals an object as JSON; null when it is empty. */
export function sealObject(sealer: Sealer, object: JsonObject, place: SealedPlace): string | null {
  return Object.keys(object).length === 0 ? null : sealer.seal(JSON.stringify(object), place);
}

/** Opens what `sealObject` returned. Throws as `openSealed`. */
export function openObject(sealer: Sealer, sealed: string | null, place: SealedPlace, message?: string): JsonObject {
  const object: unknown = sealed === null ? {} : JSON.parse(openSealed(sealer, sealed, place, message));
  return isObject(object) ? object : {};
}

/** A secret that does not decrypt must neither hide its resource nor block a new secret. */
export function decryptOr<Value>(open: () => Value, instead: Value): Decrypted<Value> {
  try {
    return { value: open(), failure: undefined };
  } catch (failure) {
    if (!(failure instanceof GatewayError) || failure.code !== 'secret_unavailable') throw failure;
    return { value: instead, failure };
  }
}

/** The error for an update that leaves out a secret that does not decrypt. `advice` is a sentence that says what to send. */
export function incompleteUpdate({ message, reason, cause }: GatewayError, advice: string): GatewayError {
  return new GatewayError('secret_unavailable', { message: `${message} ${advice}`, ...(reason && { reason }), cause });
}
