import { ApiProperty } from '@nestjs/swagger';
import { toUnixSeconds } from '../common/time/unix-time.js';
import { TargetConditionDto } from './dto/target-condition.dto.js';
import type { ModelRoute } from './model-route.entity.js';

export class ModelTargetResponse {
  /** Slug of the virtual key. */
  readonly virtual_key: string;
  /** The model, as its provider knows it. */
  readonly model: string;
  /** The model behind that name, whose prices and bounds count; null: that of the virtual key, or the name itself. */
  readonly base_model: string | null;
  /** Targets with a lower one are tried first. */
  readonly order: number;
  /**
   * Its share of the calls, among the targets of the same order. null: 1 if others have a weight; otherwise the first in the list
   * takes the calls.
   */
  readonly weight: number | null;
  /** All that a call must meet for this target; an empty list: it takes every call. */
  @ApiProperty({ type: [TargetConditionDto] })
  readonly conditions: readonly TargetConditionDto[];
  /** Calls with fewer tokens, as estimated, go to other targets; null: it has no least. */
  readonly min_estimated_tokens: number | null;
  /** Calls with more tokens, as estimated, go to other targets; null: it has no most. */
  readonly max_estimated_tokens: number | null;
  /** Calls whose usage limits have a smaller share left go to other targets; null: it takes them too. */
  @ApiProperty({ format: 'double' })
  readonly min_budget_left: number | null;
  /** Milliseconds until its answer begins, before the next target takes the call; null: it has no limit of its own. */
  readonly timeout_ms: number | null;
}

export class ModelRouteResponse {
  readonly id: string;
  readonly slug: string;
  readonly object: 'model-route';
  readonly organisation_id: string;
  /** null: for every workspace of the organisation. */
  readonly workspace_id: string | null;
  /** What callers write as `model`. */
  readonly name: string;
  readonly description: string | null;
  /** Models of virtual keys: when one fails, the next takes the call. */
  readonly targets: ModelTargetResponse[];
  /** The highest output cap of a call; null: that of the caller or the model. */
  readonly max_output_tokens: number | null;
  /** Whether a call that its usage limits leave no room for gets a lower output cap. */
  readonly clamp_output: boolean;
  /** Unix seconds. */
  readonly created_at: number;
  /** Unix seconds. */
  readonly updated_at: number;
}

export class ModelRouteListResponse {
  readonly object: 'list';
  readonly data: ModelRouteResponse[];
  readonly total: number;
}

export function toModelRouteResponse(row: ModelRoute): ModelRouteResponse {
  return {
    id: row.id,
    slug: row.slug,
    object: 'model-route',
    organisation_id: row.organisationId,
    workspace_id: row.workspaceId,
    name: row.name,
    description: row.description,
    targets: row.targets.map((target) => ({
      virtual_key: target.virtualKey,
      model: target.model,
      base_model: target.baseModel ?? null,
      order: target.order,
      weight: target.weight ?? null,
      conditions: target.conditions ?? [],
      min_estimated_tokens: target.minEstimatedTokens ?? null,
      max_estimated_tokens: target.maxEstimatedTokens ?? null,
      min_budget_left: target.minBudgetLeft ?? null,
      timeout_ms: target.timeoutMs ?? null,
    })),
    max_output_tokens: row.maxOutputTokens,
    clamp_output: row.clampOutput,
    created_at: toUnixSeconds(row.createdAt),
    updated_at: toUnixSeconds(row.updatedAt),
  };
}
