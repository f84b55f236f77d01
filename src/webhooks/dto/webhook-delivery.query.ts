import { IsIn } from 'class-validator';
import { PageQuery } from '../../common/pagination/page.query.js';
import { Optional } from '../../common/validation/optional.decorator.js';
import { DELIVERY_STATUSES, type DeliveryStatus } from '../webhook-delivery.entity.js';

export class WebhookDeliveryQuery extends PageQuery {
  /** Only deliveries of this status. */
  @Optional()
  @IsIn(DELIVERY_STATUSES)
  readonly status?: DeliveryStatus;
}
