import { IsIn, IsInt, IsString, Matches, Max, Min, ValidateBy } from 'class-validator';
import { isWebOrigin } from '../common/http/origin.js';
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

  /** Pages that may call models, files and other API of providers, as browsers spell their origin. */
  @ToList()
  @ValidateBy(
    { name: 'isOrigin', validator: { validate: isOrigin } },
    { each: true, message: '$property must list exact origins, as https://app.example.com' },
  )
  readonly CORS_ORIGINS: readonly string[] = [];

  /** Prometheus metrics (and documentation, where DOCS says so) on a port of their own, and on that one only. */
  @OptionalSetting()
  @ToNumber()
  @IsInt()
  @Min(1)
  @Max(65_535)
  readonly METRICS_PORT?: number;

  /** Bearer token that a scraper has to send. */
  @OptionalSetting()
  @Matches(/^[\x21-\x7e]{16,}$/, {
    message: '$property must have at least 16 visible ASCII characters, without spaces',
  })
  readonly METRICS_TOKEN?: string;

  /** Who may read `/docs`: everyone, callers with a key, those who reach METRICS_PORT, or no one. */
  @IsIn(['on', 'key', 'metrics_port', 'off'])
  readonly DOCS: 'on' | 'key' | 'metrics_port' | 'off' = 'on';

  /** Whether the web page for administrators is served at `/console`. */
  @IsIn(['on', 'off'])
  readonly CONSOLE: 'on' | 'off' = 'on';

  /** Where the gateway listens. */
  get listenHost(): string {
    return this.HOST ?? (this.NODE_ENV === 'production' ? ALL_INTERFACES : THIS_MACHINE);
  }
}

/** Of desktop programs, phones and extensions: `app://obsidian.md`. */
const OWN_SCHEME = /^(?!https?:)[a-z][a-z0-9+.-]*:\/\/[a-z0-9._-]+(?::\d+)?$/;

function isOrigin(text: unknown): boolean {
  return typeof text === 'string' && !text.includes('*') && (isWebOrigin(text) || OWN_SCHEME.test(text));
}

/** What is wrong with settings that are each right for themselves. */
export function serverProblems({ DOCS, METRICS_PORT, PORT }: ServerSettings): readonly string[] {
  if (METRICS_PORT === PORT) return ['METRICS_PORT must be another port than PORT'];
  if (DOCS === 'metrics_port' && METRICS_PORT === undefined) return ['METRICS_PORT is required with DOCS=metrics_port'];
  return [];
}
