import { IsIn, Length, Matches } from 'class-validator';
import { VISIBLE_ASCII } from '../common/constants.js';
import { Optional } from '../common/validation/optional.decorator.js';

const SWITCH = ['true', 'false'] as const;

/** Sent on to the provider as it is. */
export class StoredResponseQuery {
  /** `true`: the events of the response instead of the response. */
  @Optional()
  @IsIn(SWITCH)
  readonly stream?: (typeof SWITCH)[number];

  /** The number of the event after which the events begin. */
  @Optional()
  @Matches(/^\d{1,10}$/, { message: '$property must be a whole number' })
  readonly starting_after?: string;

  /** Whether the events have padding, as OpenAI writes it. */
  @Optional()
  @IsIn(SWITCH)
  readonly include_obfuscation?: (typeof SWITCH)[number];

  /** A further field of the response. */
  @Optional()
  @Length(1, 255)
  @Matches(VISIBLE_ASCII)
  readonly 'include[]'?: string;
}
