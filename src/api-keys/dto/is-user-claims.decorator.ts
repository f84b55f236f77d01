import { applyDecorators } from '@nestjs/common';
import { buildMessage, ValidateBy, type ValidationArguments } from 'class-validator';
import { authorityClaimIn } from '../../access/authority-claims.js';
import { isObject } from '../../common/json/read.js';
import { AsGiven } from '../../common/validation/bounded-fields.js';
import { isStorable, IsStorable } from '../../common/validation/is-storable.decorator.js';

const MAX_CLAIMS = 64;
/** Of all claims as JSON: they are sent with each call, in a header. */
const MAX_CLAIMS_BYTES = 8_192;

/** Claims that the maker of a key can say about its user: none that only an authority can make. */
export function IsUserClaims(): PropertyDecorator {
  const hasItsForm = ValidateBy({
    name: 'isUserClaims',
    validator: {
      validate: (value: unknown) => problemOf(value) === undefined,
      defaultMessage: buildMessage(
        (prefix, args?: ValidationArguments) => `${prefix}$property ${problemOf(args?.value)}`,
      ),
    },
  });
  return applyDecorators(hasItsForm, IsStorable(), AsGiven(MAX_CLAIMS));
}

function problemOf(value: unknown): string | undefined {
  if (!isObject(value) || Object.keys(value).length > MAX_CLAIMS)
    return `must be an object of at most ${MAX_CLAIMS} claims`;
  if (Buffer.byteLength(JSON.stringify(value)) > MAX_CLAIMS_BYTES)
    return `must be at most ${MAX_CLAIMS_BYTES} bytes of JSON`;
  // Its name goes into the message.
  if (!isStorable(value)) return undefined;
  const claim = authorityClaimIn(value);
  return claim === undefined ? undefined : `must not have the claim ${claim}, which only an authority can make`;
}
