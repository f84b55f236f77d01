import { IsBoolean, IsIn, IsInt, IsString, IsUUID, Length, Matches, Max, MaxLength, Min } from 'class-validator';
import { Items } from '../../common/validation/bounded-fields.js';
import { ReadOnlyFields } from '../../common/validation/fixed-fields.decorator.js';
import { IsStorable } from '../../common/validation/is-storable.decorator.js';
import { Optional, OptionalOrNull } from '../../common/validation/optional.decorator.js';
import { WEBHOOK_FORMATS, type WebhookFormat } from '../webhook-endpoint.entity.js';
import { SUBSCRIBABLE_EVENTS, type SubscribableEvent } from '../event-types.js';

/** URL parsers drop spaces and line breaks, so that the address would not be the one that is shown. */
const WITHOUT_SPACES = /^\S+$/;
const WITHOUT_SPACES_OPTIONS = { message: '$property must have no spaces' };
/** More than there are. */
const MAX_EVENTS = 100;
/** Thirty days: long enough for any rollout, short enough that an old secret does not live on by accident. */
const MAX_TRANSITION_SECONDS = 30 * 86_400;

/**
 * The fields that have the same rules in a create and in an update. What only a create requires must stay out:
 * class-validator passes a parent's `@Optional()` on to the child's field of that name.
 */
class WebhookEndpointFieldsDto {
  @OptionalOrNull()
  @IsString()
  @MaxLength(1024)
  @IsStorable()
  readonly description?: string | null;

  /** `standard` (default): Standard Webhooks; `slack`: a message, for the address of an incoming webhook of Slack. */
  @Optional()
  @IsIn(WEBHOOK_FORMATS)
  readonly format?: WebhookFormat;

  /** false: nothing is sent until it is true again. */
  @Optional()
  @IsBoolean()
  readonly enabled?: boolean;

  /** Required with an administrator's token; with an API key it can only be the key's own. */
  @Optional()
  @IsUUID()
  readonly organisation_id?: string;
}

@ReadOnlyFields(['workspace_id', 'disabled_at', 'disabled_reason'])
export class UpdateWebhookEndpointDto extends WebhookEndpointFieldsDto {
  /**
   * Where events are sent.
   * @example "https://hooks.example.com/tollgate"
   */
  @Optional()
  @IsString()
  @Length(1, 2048)
  @Matches(WITHOUT_SPACES, WITHOUT_SPACES_OPTIONS)
  @IsStorable()
  readonly url?: string;

  /**
   * The types of events that the endpoint receives; `*`: all.
   * @example ["usage_limit.exhausted"]
   */
  @Optional()
  @Items({ min: 1, max: MAX_EVENTS, unique: true })
  @IsIn(SUBSCRIBABLE_EVENTS, { each: true })
  readonly events?: SubscribableEvent[];
}

export class CreateWebhookEndpointDto extends WebhookEndpointFieldsDto {
  /**
   * Where events are sent: https, and http where EGRESS_ALLOW names the host.
   * @example "https://hooks.example.com/tollgate"
   */
  @IsString()
  @Length(1, 2048)
  @Matches(WITHOUT_SPACES, WITHOUT_SPACES_OPTIONS)
  @IsStorable()
  readonly url: string;

  /**
   * `*` for all, also those that are added later.
   * @example ["usage_limit.threshold_reached", "usage_limit.exhausted"]
   */
  @Items({ min: 1, max: MAX_EVENTS, unique: true })
  @IsIn(SUBSCRIBABLE_EVENTS, { each: true })
  readonly events: SubscribableEvent[];

  /** Id or slug. Without it, a caller of the whole organisation makes an endpoint for the events of all its workspaces. */
  @OptionalOrNull()
  @IsString()
  @Length(1, 255)
  @IsStorable()
  readonly workspace_id?: string | null;
}

export class RotateWebhookSecretDto {
  /**
   * How long the old secret signs too, in seconds. 0 ends it at once; the default is a day.
   * @example 3600
   */
  @Optional()
  @IsInt()
  @Min(0)
  @Max(MAX_TRANSITION_SECONDS)
  readonly transition_seconds?: number;

  /** Required with an administrator's token that grants several organisations. */
  @Optional()
  @IsUUID()
  readonly organisation_id?: string;
}
