import { IsIn } from 'class-validator';
import { Optional } from '../../common/validation/optional.decorator.js';
import { IsOnDisconnect, type OnDisconnect } from './on-disconnect.js';
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

  /** What becomes of a call whose client leaves: `abort` (default) ends it, `drain` reads it to its end, to know what it costs. */
  @IsOnDisconnect()
  readonly on_disconnect?: OnDisconnect;
}
