import { GatewayError } from '../common/errors/gateway.error.js';

/**
 * The row that a reference in an address means. Slugs are unique in a workspace only: a caller of the whole organisation may
 * find several, and means the organisation's own.
 * @param rows the organisation's own first
 * @param ambiguous what to tell the caller of several workspaces that have it
 * @throws GatewayError `not_found` or `conflict`
 */
export function meantRow<Row extends { readonly workspaceId: string | null }>(
  rows: readonly Row[],
  ambiguous: string,
): Row {
  const [row] = rows;
  return row?.workspaceId === null ? row : onlyRow(rows, ambiguous);
}

/**
 * The same where a guess would do harm: of several rows none is meant.
 * @throws GatewayError `not_found` or `conflict`
 */
export function onlyRow<Row>([row, another]: readonly Row[], ambiguous: string): Row {
  if (row === undefined) throw new GatewayError('not_found');
  if (another !== undefined) throw new GatewayError('conflict', { message: ambiguous });
  return row;
}
