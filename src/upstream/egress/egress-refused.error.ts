import { assertNever } from '../../common/assert-never.js';

/** The rule that a URL or host breaks. */
export type EgressRefusalReason = 'length' | 'scheme' | 'userinfo' | 'address' | 'host';

/**
 * The gateway may not connect there. Holds the host as it was configured and never what it resolved to, so that an
 * error text cannot be used to map the network that the gateway runs in.
 */
export class EgressRefusedError extends Error {
  constructor(
    readonly reason: EgressRefusalReason,
    readonly host: string,
  ) {
    super(`egress to ${host} refused: ${reason}`);
    this.name = 'EgressRefusedError';
  }
}

/** For the 400 of a field that holds a URL; reads on from the field's name, as `invalidField` wants it. */
export function describeEgressRefusal(error: EgressRefusedError): string {
  switch (error.reason) {
    case 'length':
      return 'must be at most 2048 characters long';
    case 'scheme':
      return 'must use https (http only for hosts that EGRESS_ALLOW names)';
    case 'userinfo':
      return 'must not contain a user name or password';
    case 'address':
      return `must not lead to a private or reserved address unless EGRESS_ALLOW names it: ${error.host}`;
    case 'host':
      return `must not name a local host unless EGRESS_ALLOW names it: ${error.host}`;
    default:
      return assertNever(error.reason);
  }
}
