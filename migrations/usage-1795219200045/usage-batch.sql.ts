import { admit, FIRST_RULES } from '../usage-1795219200013/usage-admission.sql.js';
import { usageBatch } from '../usage-1795219200013/usage-batch.sql.js';
import { MAX_COUNT } from './usage-apply.sql.js';

/** A reservation holds what was added for it, and gives back no more: less than its amount where the counter is full. */
export const TO_WHAT_IS_LEFT = `
          IF p_charge_amounts[v_c] > ${MAX_COUNT} - b_reserved[v_b] THEN
            p_charge_amounts[v_c] := GREATEST(${MAX_COUNT} - b_reserved[v_b], 0);
          END IF;`;

export const USAGE_BATCH = usageBatch(admit({ ...FIRST_RULES, bound: TO_WHAT_IS_LEFT }));
