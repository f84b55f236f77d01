import { IsString, MaxLength } from 'class-validator';
import { Optional } from '../../common/validation/optional.decorator.js';

export class LoginQuery {
  /** Page of the console to show afterwards: `/console`, or a path below it. */
  @IsString()
  @MaxLength(1_024)
  readonly return_to: string = '/console';

  /** Slug of the organisation to log in to. Absent: the first one of ADMIN_OIDC_ROLES that a group of the person may use. */
  @Optional()
  @IsString()
  @MaxLength(255)
  readonly organisation?: string;

  /** Slug of its workspace. Absent, with an organisation: all of it. */
  @Optional()
  @IsString()
  @MaxLength(255)
  readonly workspace?: string;
}
