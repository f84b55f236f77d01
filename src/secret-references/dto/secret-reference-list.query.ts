import { IsIn, IsString, Length } from 'class-validator';
import { PageQuery } from '../../common/pagination/page.query.js';
import { IsStorable } from '../../common/validation/is-storable.decorator.js';
import { Optional } from '../../common/validation/optional.decorator.js';
import { MANAGER_NAMES } from '../auth-config/auth-schemes.js';
import { IsTagsText } from './is-tags.decorator.js';

export class SecretReferenceListQuery extends PageQuery {
  /** Either name of a manager finds the references of both. */
  @Optional()
  @IsIn(MANAGER_NAMES)
  readonly manager_type?: string;

  /** JSON object: references whose tags contain it. */
  @Optional()
  @IsTagsText()
  readonly tags?: string;

  /** Part of the name, in any case. */
  @Optional()
  @IsString()
  @Length(1, 255)
  @IsStorable()
  readonly search?: string;
}
