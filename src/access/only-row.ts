import { GatewayError } from '../common/errors/gateway.error.js';

/**
 * The row that a reference in an address means. Slugs are unique in a workspace only: a caller of the whole organisation may
 * find several.
 * @param ambiguous what to tell the caller then
 * @throws GatewayError `not_found` or `conflict`
 */
export function onlyRow<Row>([row, another]: readonly Row[], ambiguous: string): Row {
  if (row === undefined) throw new GatewayError('not_found');
  if (another !== undefined) throw new GatewayError('conflict', { message: ambiguous });
  return row;
}
