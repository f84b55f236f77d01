import { IsSortOf, ListQuery } from '../../common/pagination/list.query.js';

export class OrganisationListQuery extends ListQuery {
  @IsSortOf('created_at', 'name', 'slug')
  override readonly sort: string = '-created_at';
}
