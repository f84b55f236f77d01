import { IsIn, IsInt, IsString, Max, Min, ValidateBy } from 'class-validator';
import { ToList, ToNumber } from '../common/validation/conversion.decorators.js';
import { RedisSettings } from './redis-settings.js';
import { OptionalSetting } from './setting.decorators.js';
import { isAddressOrBlock } from './trusted-proxies.js';

const ALL_INTERFACES = '0.0.0.0';
const THIS_MACHINE = '127.0.0.1';

/** Settings of the HTTP server: where it listens, and how much it takes. */
export class ServerSettings extends RedisSettings {
  @IsIn(['development', 'test', 'production'])
  readonly NODE_ENV: 'development' | 'test' | 'production' = 'development';

  /** Absent: all interfaces in production, else only this machine. */
  @OptionalSetting()
  @IsString()
  readonly HOST?: string;

  @ToNumber()
  @IsInt()
  @Min(0)
  @Max(65_535)
  readonly PORT: number = 8787;

  /** Most open connections of clients. */
  @ToNumber()
  @IsInt()
  @Min(1)
  @Max(1_000_000)
  readonly MAX_CONNECTIONS: number = 10_000;

  /** Most open connections of one address, or requests in flight of one client behind a trusted proxy. */
  @ToNumber()
  @IsInt()
  @Min(1)
  @Max(1_000_000)
  readonly MAX_CONNECTIONS_PER_ADDRESS: number = 1_024;

  /** Addresses and CIDR blocks of the proxies before the gateway: their `X-Forwarded-For` names the client. */
  @ToList()
  @ValidateBy(
    { name: 'isAddressOrBlock', validator: { validate: isAddressOrBlock } },
    { each: true, message: '$property must list IP addresses and CIDR blocks' },
  )
  readonly TRUST_PROXY: readonly string[] = [];

  /** Where the gateway listens. */
  get listenHost(): string {
    return this.HOST ?? (this.NODE_ENV === 'production' ? ALL_INTERFACES : THIS_MACHINE);
  }
}
