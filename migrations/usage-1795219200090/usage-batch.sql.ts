import { admit } from '../usage-1795219200013/usage-admission.sql.js';
import { usageBatch } from '../usage-1795219200013/usage-batch.sql.js';
import { TO_WHAT_IS_LEFT } from '../usage-1795219200045/usage-batch.sql.js';

/**
 * What is free fits into every limit, one that is exceeded included. A call that the whole limit has no room for tells of a
 * bucket that has reached it all the same.
 */
export const USAGE_BATCH = usageBatch(
  admit({
    bound: TO_WHAT_IS_LEFT,
    isLimited: 'p_charge_enforced[v_c] AND p_charge_amounts[v_c] > 0',
    isTelling: '(p_charge_amounts[v_c] <= p_charge_limits[v_c] OR v_left <= 0)',
  }),
);
