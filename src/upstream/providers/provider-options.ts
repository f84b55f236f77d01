import { buildMessage, IsInt, Max, Min, ValidateBy } from 'class-validator';
import { Optional } from '../../common/validation/optional.decorator.js';
import { MAX_BASE_URL_CHARACTERS, parseBaseUrl } from './build-request.js';

/** Options that every provider behind HTTP takes. A provider's own class adds its fields. */
export class ProviderOptions {
  /** Address that requests go to instead of the provider's own, for proxies and private endpoints. */
  @Optional()
  @IsBaseUrl()
  readonly base_url?: string;

  /** Longest time for one call in milliseconds, retries included. */
  @Optional()
  @IsInt()
  @Min(100)
  @Max(600_000)
  readonly timeout_ms?: number;
}

function IsBaseUrl(): PropertyDecorator {
  return ValidateBy({
    name: 'isBaseUrl',
    validator: {
      validate: (value: unknown) => typeof value === 'string' && parseBaseUrl(value) !== undefined,
      defaultMessage: buildMessage(
        (each) =>
          `${each}$property must be an absolute http(s) URL without user, query or fragment, at most ${MAX_BASE_URL_CHARACTERS} characters`,
      ),
    },
  });
}
