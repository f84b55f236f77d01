import { And, type FindOperator, LessThan, MoreThanOrEqual } from 'typeorm';
import { invalidField } from '../common/errors/gateway.error.js';
import { fromUnixSeconds } from '../common/time/unix-time.js';

/**
 * Both seconds are included to their end: an entry belongs to the second in which it was written. Undefined without bounds.
 * @throws GatewayError `validation_failed`
 */
export function timeRange({
  from,
  to,
}: {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}): FindOperator<Date> | undefined {
  if (from !== undefined && to !== undefined && from > to) throw invalidField('from', 'must not be after to');
  const since = from === undefined ? undefined : MoreThanOrEqual(fromUnixSeconds(from));
  const before = to === undefined ? undefined : LessThan(fromUnixSeconds(to + 1));
  return since !== undefined && before !== undefined ? And(since, before) : (since ?? before);
}
