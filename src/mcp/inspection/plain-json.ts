import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../../common/errors/gateway.error.js';

const UTF8 = /^charset\s*=\s*"?utf-?8"?$/;

/**
 * Refuses what is not read as JSON in UTF-8 as it stands. Decided the way a lenient server would: `Application/JSON; charset=UTF-8`
 * is JSON as well.
 * @throws GatewayError `unsupported_media_type`
 */
export function assertPlainJson(headers: IncomingHttpHeaders): void {
  const [type = '', ...parameters] = (headers['content-type'] ?? '').toLowerCase().split(';');
  if (type.trim() !== 'application/json') throw new GatewayError('unsupported_media_type');
  const charsets = parameters.map((text) => text.trim()).filter((text) => text.startsWith('charset'));
  if (!charsets.every((text) => UTF8.test(text))) throw refusal('The request body must be in UTF-8.');
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') throw refusal('The request body must not be compressed.');
}

function refusal(message: string): GatewayError {
  return new GatewayError('unsupported_media_type', { message });
}
