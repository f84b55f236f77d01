import { ApiProperty } from '@nestjs/swagger';
import { toUnixSeconds } from '../common/time/unix-time.js';
import type { ModelRoute, ModelTarget } from './model-route.entity.js';
import { type HealthReport, TARGET_STATES, type TargetState } from './target-health.js';

export class TargetHealthResponse {
  /** Slug of the virtual key. */
  readonly virtual_key: string;
  /** The model, as its provider knows it. */
  readonly model: string;
  /** The order of the target: lower ones are tried first. */
  readonly order: number;
  /**
   * `closed`: calls pass. `open`: too many have failed, and others take them. `half_open`: the next call shows whether it is well
   * again. `limited`: its provider asked for a pause.
   */
  @ApiProperty({ enum: TARGET_STATES })
  readonly state: TargetState;
  /** Unix seconds until which calls go to others first; null: they do not. */
  readonly until: number | null;
  /** Calls of the last 30 seconds. */
  readonly calls: number;
  /** How many of these calls have failed. */
  readonly failures: number;
}

export class ModelRouteHealthResponse {
  readonly object: 'model-route-health';
  readonly id: string;
  readonly slug: string;
  /** The targets, in the order of the route. */
  readonly targets: TargetHealthResponse[];
}

export function toHealthResponse(
  { id, slug, targets }: ModelRoute,
  report: (target: ModelTarget) => HealthReport,
): ModelRouteHealthResponse {
  return {
    object: 'model-route-health',
    id,
    slug,
    targets: targets.map((target) => {
      const { state, until, calls, failures } = report(target);
      return {
        virtual_key: target.virtualKey,
        model: target.model,
        order: target.order,
        state,
        until: until === undefined ? null : toUnixSeconds(new Date(until)),
        calls,
        failures,
      };
    }),
  };
}
