import { ArrayMaxSize, IsArray, IsIn, IsString, Length } from 'class-validator';
import { FORWARD_MODES, type ForwardHeaders } from './identity-config.js';

/** Which of the client's headers the MCP server gets beside those of the protocol. Absent: none. */
export class ForwardHeadersDto implements ForwardHeaders {
  /** `all-except`: all but the named ones. `allowlist`: only the named ones. Credentials and identity never. */
  @IsIn(FORWARD_MODES)
  readonly mode: ForwardHeaders['mode'];

  /**
   * Names of headers.
   * @example ["x-tenant"]
   */
  @IsArray()
  @ArrayMaxSize(100)
  @IsString({ each: true })
  @Length(1, 128, { each: true })
  readonly headers: string[];
}
