import { IntersectionType } from '@nestjs/swagger';
import { IsString, IsUUID, MaxLength } from 'class-validator';
import { SearchQuery } from '../common/pagination/list.query.js';
import { LogListQuery } from '../common/pagination/log-list.query.js';
import { OrganisationQuery } from '../common/pagination/organisation.query.js';
import { TimeRangeQuery } from '../common/pagination/time-range.query.js';
import { IsStorable } from '../common/validation/is-storable.decorator.js';
import { Optional } from '../common/validation/optional.decorator.js';

/** What both the list and the export can be limited to. */
export class AuditLogFilter extends IntersectionType(OrganisationQuery, SearchQuery, TimeRangeQuery) {
  /** Id of the API key, or subject of the administrator's token, that made the change. */
  @Optional()
  @IsString()
  @MaxLength(255)
  @IsStorable()
  readonly actor?: string;

  /** What was done, e.g. `virtual_keys.update`. */
  @Optional()
  @IsString()
  @MaxLength(64)
  @IsStorable()
  readonly action?: string;

  /** Id of the changed resource. */
  @Optional()
  @IsUUID()
  readonly resource?: string;

  /** The kind of the changed resource, e.g. `virtual-key`. */
  @Optional()
  @IsString()
  @MaxLength(64)
  @IsStorable()
  readonly resource_type?: string;
}

export class AuditLogQuery extends IntersectionType(LogListQuery, AuditLogFilter) {}
