import { IsIn, IsString, Length } from 'class-validator';
import { Items } from '../../common/validation/bounded-fields.js';
import { FORWARD_MODES, type ForwardHeaders } from './identity-config.js';

/** Which of the client's headers are forwarded, besides those of the protocol. Absent: none. */
export class ForwardHeadersDto implements ForwardHeaders {
  /** `all-except`: all but the named ones. `allowlist`: only the named ones. Never credentials, identity headers or others that a proxy sets: see the guide. */
  @IsIn(FORWARD_MODES)
  readonly mode: ForwardHeaders['mode'];

  /**
   * Names of headers.
   * @example ["x-tenant"]
   */
  @Items({ max: 100 })
  @IsString({ each: true })
  @Length(1, 128, { each: true })
  readonly headers: string[];
}
