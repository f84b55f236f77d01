import { ApiProperty } from '@nestjs/swagger';

export const DECISIONS = ['admitted', 'exceeded', 'contended'] as const;
/** `contended`: only calls under way are in the way. */
export type Decision = (typeof DECISIONS)[number];

export class SimulatedPolicyResponse {
  readonly policy_id: string;
  readonly name: string | null;
  readonly type: 'cost' | 'tokens';
  readonly enforcement: 'strict' | 'monitor';
  /** The group that the call would be counted in. */
  readonly value_key: string;
  @ApiProperty({ format: 'double' })
  readonly credit_limit: number;
  @ApiProperty({ format: 'double' })
  readonly current_usage: number;
  @ApiProperty({ format: 'double' })
  readonly reserved: number;
  /** What is left for further calls. */
  @ApiProperty({ format: 'double' })
  readonly headroom: number;
  /** Unix seconds; null: never. */
  readonly next_reset_at: number | null;
  /** What the policy would say; one that only monitors refuses nothing whatever it says. */
  @ApiProperty({ enum: DECISIONS })
  readonly decision: Decision;
}

export class UsageSimulationResponse {
  readonly object: 'usage-simulation';
  /** By all policies, also those that are not shown. */
  @ApiProperty({ enum: DECISIONS })
  readonly decision: Decision;
  /** Those that the call falls under, as far as the caller can read them: one of a workspace sees those of its workspace. */
  readonly policies: SimulatedPolicyResponse[];
}
