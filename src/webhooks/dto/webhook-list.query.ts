import { IsIn } from 'class-validator';
import { IsSort, IsTextFilter, ListQuery } from '../../common/pagination/list.query.js';
import { Optional } from '../../common/validation/optional.decorator.js';
import { SUBSCRIBABLE_EVENTS, type SubscribableEvent } from '../event-types.js';

export class WebhookListQuery extends ListQuery {
  /** Only endpoints that receive events, or only those that are disabled. */
  @Optional()
  @IsIn(['enabled', 'disabled'])
  readonly status?: 'enabled' | 'disabled';

  /** Only endpoints that name this type of events. */
  @Optional()
  @IsIn(SUBSCRIBABLE_EVENTS)
  readonly event?: SubscribableEvent;

  /** Only endpoints of this workspace, by id or slug. */
  @IsTextFilter()
  readonly workspace_id?: string;

  @IsSort('url')
  override readonly sort: string = '-created_at';
}
