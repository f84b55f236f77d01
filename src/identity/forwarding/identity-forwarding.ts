import { Inject, Injectable } from '@nestjs/common';
import { type MaybePromise, chain } from '../../common/maybe-promise.js';
import type { McpCaller } from '../claims/mcp-caller.js';
import { identityHeaderName, type UserIdentityForwarding } from '../config/identity-config.js';
import type { IdentityForwarder } from './identity-forwarder.js';
import { IdentityForwardingError } from './identity-forwarding.error.js';

/** Node refuses headers of more than 16 KiB in total; half of it leaves room for the others. */
const MAX_VALUE_BYTES = 8 * 1024;
const HEADERS_TOO_LARGE = 431;
const PRINTABLE_ASCII = /^[\x20-\x7e]+$/;

/** The list of forwarders, one per method. */
export const IDENTITY_FORWARDERS = Symbol('IDENTITY_FORWARDERS');

export interface IdentityHeader {
  readonly name: string;
  readonly value: string;
}

/** Makes the identity header of a request, with the forwarder of the configured method. */
@Injectable()
export class IdentityForwarding {
  private readonly forwarders: ReadonlyMap<string, IdentityForwarder>;

  constructor(@Inject(IDENTITY_FORWARDERS) forwarders: readonly IdentityForwarder[]) {
    this.forwarders = new Map(forwarders.map((forwarder) => [forwarder.method, forwarder]));
  }

  /**
   * Undefined when no forwarding is configured, or for a caller whom a server with `bearer` lets in without a token.
   * @throws IdentityForwardingError when forwarding is configured and fails
   */
  headerFor(
    caller: McpCaller,
    forwarding: UserIdentityForwarding | undefined,
    now: Date,
  ): MaybePromise<IdentityHeader | undefined> {
    if (forwarding === undefined) return undefined;
    const forwarder = this.forwarders.get(forwarding.method);
    if (forwarder === undefined) throw new IdentityForwardingError('unknown_method');
    return chain(forwarder.valueFor(caller, forwarding, now), (value) => toHeader(forwarding, value));
  }
}

/**
 * Call with the status of a server's answer and the headers, by lower-case names, that were sent. A client cannot shorten an
 * identity that the gateway makes, so 431 (RFC 6585, section 5) is not its error when the identity is the longest header.
 * @throws IdentityForwardingError
 */
export function assertIdentityFits(
  status: number | undefined,
  sent: ReadonlyMap<string, string> | undefined,
  forwarding: UserIdentityForwarding | undefined,
): void {
  if (status !== HEADERS_TOO_LARGE || forwarding === undefined || sent === undefined) return;
  const identity = sent.get(identityHeaderName(forwarding).toLowerCase());
  if (identity === undefined || [...sent.values()].some(({ length }) => length > identity.length)) return;
  throw new IdentityForwardingError('refused_as_too_large');
}

function toHeader(forwarding: UserIdentityForwarding, value: string | undefined): IdentityHeader | undefined {
  if (value === undefined) return undefined;
  // Never truncated: half of the claims is another identity.
  if (value.length > MAX_VALUE_BYTES) throw new IdentityForwardingError('too_large');
  if (!PRINTABLE_ASCII.test(value)) throw new IdentityForwardingError('not_sendable');
  return { name: identityHeaderName(forwarding), value };
}
