import { assertNever } from '../../common/assert-never.js';

/** Of what is configured. */
export const MAX_URL_LENGTH = 2_048;

/** The rule that a URL or host breaks. */
export type EgressRefusalReason = 'length' | 'scheme' | 'userinfo' | 'port' | 'address' | 'host';

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

/**
 * Why the gateway may never call an address, so that it is refused now and not at the first request; for the 400 of a field
 * that holds a URL, and reads on from the field's name, as `invalidField` wants it.
 */
export function egressProblem(egress: { checkUrl(url: URL): void }, url: string): string | undefined {
  // Other rules for URLs accept some that no parser does: a zone in an IPv6 address.
  if (!URL.canParse(url)) return 'must be an absolute URL';
  try {
    egress.checkUrl(new URL(url));
    return undefined;
  } catch (error) {
    if (error instanceof EgressRefusedError) return sentenceFor(error);
    throw error;
  }
}

function sentenceFor(error: EgressRefusedError): string {
  switch (error.reason) {
    case 'length':
      return `must be at most ${MAX_URL_LENGTH} characters long`;
    case 'scheme':
      return 'must use https (http only for hosts that EGRESS_ALLOW names)';
    case 'userinfo':
      return 'must not contain a user name or password';
    case 'port':
      return 'must not name port 0, which nothing listens on';
    case 'address':
      return `must not lead to a private or reserved address unless EGRESS_ALLOW names it: ${error.host}`;
    case 'host':
      return `must not name a local host unless EGRESS_ALLOW names it: ${error.host}`;
    default:
      return assertNever(error.reason);
  }
}
