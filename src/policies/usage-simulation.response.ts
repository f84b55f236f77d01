import { ApiProperty } from '@nestjs/swagger';

export const DECISIONS = ['admitted', 'exceeded', 'contended', 'not_metered', 'price_unknown'] as const;
/**
 * `contended`: the call would fit without other calls in flight. `not_metered`: such calls are not counted; one that starts work
 * (a vector store, the run of a grader) is refused where the limit is used up. `price_unknown`: a unit of the estimate has no price.
 */
export type Decision = (typeof DECISIONS)[number];

export class SimulatedPolicyResponse {
  /** The id of the usage limit. */
  readonly policy_id: string;
  /** The name of the usage limit. */
  readonly name: string | null;
  /** The unit of the policy: US dollars or tokens. */
  readonly type: 'cost' | 'tokens';
  /** `strict` refuses calls over the limit; `monitor` only counts them. */
  readonly enforcement: 'strict' | 'monitor';
  /** The group that the call would be counted in. */
  readonly value_key: string;
  /** The most that the group may use in a period. */
  @ApiProperty({ format: 'double' })
  readonly credit_limit: number;
  /** The usage of the group in this period. */
  @ApiProperty({ format: 'double' })
  readonly current_usage: number;
  /** The expected usage of calls in flight. */
  @ApiProperty({ format: 'double' })
  readonly reserved: number;
  /** The rest for further calls. */
  @ApiProperty({ format: 'double' })
  readonly headroom: number;
  /** Unix seconds; null: never. */
  readonly next_reset_at: number | null;
  /** The decision of the policy. A monitoring policy never refuses a call. */
  @ApiProperty({ enum: DECISIONS })
  readonly decision: Decision;
}

export class UsageSimulationResponse {
  readonly object: 'usage-simulation';
  /** The decision of all policies, including those that are not shown. */
  @ApiProperty({ enum: DECISIONS })
  readonly decision: Decision;
  /**
   * The policies that apply to the call and that the caller can read. A caller of one workspace sees those of its
   * workspace.
   */
  readonly policies: SimulatedPolicyResponse[];
}
