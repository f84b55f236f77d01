import { assertNever } from '../../common/assert-never.js';

/** The longest configured URL, in characters. */
export const MAX_URL_LENGTH = 2_048;

/** The rule that a URL or host breaks. */
export type EgressRefusalReason = 'length' | 'scheme' | 'userinfo' | 'port' | 'address' | 'host';

/**
 * Thrown when the gateway may not connect to a host. Contains the configured host and never its addresses, so that
 * errors cannot be used to map the gateway's network.
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
 * The reason why the gateway may never call a URL, so that it is refused when it is configured. Follows the field's
 * name in a 400, as `invalidField` expects; undefined for an allowed URL.
 */
export function egressProblem(egress: { checkUrl(url: URL): void }, url: string): string | undefined {
  // Other URL rules accept some that no parser accepts, such as a zone in an IPv6 address.
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
