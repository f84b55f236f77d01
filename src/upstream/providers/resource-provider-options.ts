import { IsIn } from 'class-validator';
import { Optional } from '../../common/validation/optional.decorator.js';
import { ProviderOptions } from './provider-options.js';

const ISOLATION = ['off', 'strict'] as const;

/** Options of providers that keep objects (batches, files, jobs, threads) for the account behind the credential. */
export class ResourceProviderOptions extends ProviderOptions {
  /**
   * `strict`: callers see only the objects that their own workspace made through the gateway. `off` (default): all objects of
   * the provider account.
   */
  @Optional()
  @IsIn(ISOLATION)
  readonly isolation?: (typeof ISOLATION)[number];
}
