/** A usage limit that a call does not fit into, as callers read it. Amounts are in the policy's unit: dollars or tokens. */
export interface ExhaustedLimit {
  readonly policy_id: string;
  readonly name: string | null;
  readonly type: 'cost' | 'tokens';
  /** The group that the call counts in. */
  readonly value_key: string;
  readonly credit_limit: number;
  readonly current_usage: number;
  /** Expected of calls under way. */
  readonly reserved: number;
  /** Unix seconds; null: never. */
  readonly next_reset_at: number | null;
}
