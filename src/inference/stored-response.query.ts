import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, Matches, ValidateBy } from 'class-validator';
import { VISIBLE_ASCII } from '../common/constants.js';
import { OrderedCursorQuery } from '../common/pagination/cursor.query.js';
import { AsGiven } from '../common/validation/bounded-fields.js';
import { Optional } from '../common/validation/optional.decorator.js';

const SWITCH = ['true', 'false'] as const;
const MAX_INCLUDED = 32;
const MAX_NAME = 255;

/** Fields of a response that it does not have by itself. The parameter may come several times. */
const IncludedFields = (): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({
      description: 'A further field of the response; may come several times.',
      type: 'array',
      items: { type: 'string' },
      maxItems: MAX_INCLUDED,
    }),
    Optional(),
    AsGiven(MAX_INCLUDED),
    ValidateBy({
      name: 'isIncluded',
      validator: {
        validate: (value: unknown) => (Array.isArray(value) ? value.every(isName) : isName(value)),
        defaultMessage: () => `$property must be names of at most ${MAX_NAME} visible characters`,
      },
    }),
  );

function isName(value: unknown): boolean {
  return typeof value === 'string' && value.length <= MAX_NAME && VISIBLE_ASCII.test(value);
}

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

  @IncludedFields()
  readonly 'include[]'?: string | readonly string[];
}

/** Sent on to the provider as it is. */
export class ResponseInputQuery extends OrderedCursorQuery {
  @IncludedFields()
  readonly 'include[]'?: string | readonly string[];
}
