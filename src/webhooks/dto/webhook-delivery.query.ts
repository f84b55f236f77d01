import { IsIn } from 'class-validator';
import { SearchPageQuery } from '../../common/pagination/list.query.js';
import { Optional } from '../../common/validation/optional.decorator.js';
import { EVENT_TYPES, type EventType } from '../event-types.js';
import { DELIVERY_STATUSES, type DeliveryStatus } from '../webhook-delivery.entity.js';

export class WebhookDeliveryQuery extends SearchPageQuery {
  /** Only deliveries of this status. */
  @Optional()
  @IsIn(DELIVERY_STATUSES)
  readonly status?: DeliveryStatus;

  /** Only deliveries of this type of events. */
  @Optional()
  @IsIn(EVENT_TYPES)
  readonly event?: EventType;
}
