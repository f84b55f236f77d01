import { GatewayError } from '../common/errors/gateway.error.js';

/** What opens, or what to go on with in its place, and why. */
export interface Opened<Value> {
  readonly value: Value;
  readonly failure: GatewayError | undefined;
}

/** A secret that does not open must neither hide the resource that has it, nor stand in the way of a new one. */
export function openedOr<Value>(open: () => Value, instead: Value): Opened<Value> {
  try {
    return { value: open(), failure: undefined };
  } catch (failure) {
    if (!(failure instanceof GatewayError) || failure.code !== 'secret_unavailable') throw failure;
    return { value: instead, failure };
  }
}

/** For an update that leaves out what does not open. `advice` is a sentence that tells the caller what to send. */
export function leftOut({ message, reason, cause }: GatewayError, advice: string): GatewayError {
  return new GatewayError('secret_unavailable', { message: `${message} ${advice}`, ...(reason && { reason }), cause });
}
