import { plainToInstance } from 'class-transformer';
import { getMetadataStorage, IsIn, IsInt, IsString, Matches, Max, Min, validateSync } from 'class-validator';
import { ToList, ToNumber } from '../common/validation/conversion.decorators.js';
import { administratorProblems } from './administrator-settings.js';
import { egressProblems } from './egress-settings.js';
import { readEnvironmentFile } from './environment-file.js';
import { oauthProblems } from './identity-settings.js';
import { redisProblems } from './redis-settings.js';
import { requestLogProblems, RequestLogSettings } from './request-log-settings.js';
import { awsIdentityProblems } from './secret-settings.js';
import { serverProblems } from './server-settings.js';
import { IsDatabaseUrl, IsWebAddress, OptionalSetting } from './setting.decorators.js';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** 32 bytes, as 64 hexadecimal digits or as base64 (standard or URL-safe). */
const ENCRYPTION_KEY = /^(?:[0-9a-fA-F]{64}|[A-Za-z0-9+/_-]{43}=?)$/;

/** Every setting of the gateway, with its rule and default. The only reader of the process environment. */
export class AppConfig extends RequestLogSettings {
  /** Where API consumers reach the gateway, without `/v1`: told in the OpenAPI document. Absent: wherever that was read. */
  @OptionalSetting()
  @IsWebAddress()
  @Matches(/^[^?#@]+$/, { message: '$property must have no query, fragment or user' })
  readonly PUBLIC_URL?: string;

  @IsIn(LOG_LEVELS)
  readonly LOG_LEVEL: (typeof LOG_LEVELS)[number] = 'info';

  /** Absent: the embedded PostgreSQL in DATA_DIR. */
  @OptionalSetting()
  @IsDatabaseUrl()
  readonly DATABASE_URL?: string;

  @ToNumber()
  @IsInt()
  @Min(1)
  @Max(200)
  readonly DATABASE_POOL_SIZE: number = 10;

  /**
   * For how long keys, virtual keys and MCP servers that were found last still count while the database does not answer. A key
   * that is revoked on another replica meanwhile stays valid for as long.
   */
  @ToNumber()
  @IsInt()
  @Min(0)
  @Max(3_600)
  readonly DATABASE_OUTAGE_GRACE_SECONDS: number = 0;

  @IsString()
  readonly DATA_DIR: string = './data';

  @OptionalSetting()
  @Matches(/^tg_[0-9A-Za-z]{8}_[0-9A-Za-z]{49}$/, {
    message: '$property must be a gateway key (npm run keys:generate makes one)',
  })
  readonly TOLLGATE_ADMIN_KEY?: string;

  @OptionalSetting()
  @Matches(ENCRYPTION_KEY, { message: '$property must be 32 bytes in base64 or hexadecimal' })
  readonly TOLLGATE_ENCRYPTION_KEY?: string;

  /** Keys that were current before; values sealed by them still open. */
  @ToList()
  @Matches(ENCRYPTION_KEY, { each: true, message: '$property must list keys of 32 bytes in base64 or hexadecimal' })
  readonly TOLLGATE_ENCRYPTION_KEYS_PREVIOUS: readonly string[] = [];

  @ToNumber()
  @IsInt()
  @Min(1024)
  @Max(64 * 1024 * 1024)
  readonly MAX_JSON_BODY_BYTES: number = 4 * 1024 * 1024;

  /** Of bodies that are forwarded without being parsed: those of chats, with their images. */
  @ToNumber()
  @IsInt()
  @Min(1024)
  @Max(256 * 1024 * 1024)
  readonly INFERENCE_MAX_BODY_BYTES: number = 32 * 1024 * 1024;

  /** Until the first byte of a chat, message or embedding, and for silence in it. Models may think for minutes. */
  @ToNumber()
  @IsInt()
  @Min(100)
  @Max(3_600_000)
  readonly INFERENCE_TIMEOUT_MS: number = 600_000;

  /** Bound for the silence of such a stream after its head; never less than `timeout_ms` of its virtual key. */
  @ToNumber()
  @IsInt()
  @Min(1_000)
  @Max(3_600_000)
  readonly INFERENCE_STREAM_IDLE_MS: number = 300_000;

  /** For such a stream as a whole. No answer of a model takes nearly this long, but a loop without end does. */
  @ToNumber()
  @IsInt()
  @Min(1_000)
  @Max(86_400_000)
  readonly INFERENCE_STREAM_TIMEOUT_MS: number = 3_600_000;

  /** Until a stream begins, while another target of its model route waits for the call. */
  @ToNumber()
  @IsInt()
  @Min(100)
  @Max(3_600_000)
  readonly ROUTE_FIRST_BYTE_MS: number = 60_000;

  /**
   * Until an answer that is not a stream begins, while another target of its model route waits for the call. It comes when the model has
   * written all of it. Many clients wait for 5 minutes.
   */
  @ToNumber()
  @IsInt()
  @Min(100)
  @Max(3_600_000)
  readonly ROUTE_ANSWER_MS: number = 240_000;

  /** For a JSON body as a whole: 4 MiB at 112 kbit/s. A body that is streamed has an hour. */
  @ToNumber()
  @IsInt()
  @Min(1_000)
  @Max(3_600_000)
  readonly JSON_BODY_TIMEOUT_MS: number = 300_000;

  /** The longest silence in a body of a client. An upload must bring at least 16 KiB in this time. */
  @ToNumber()
  @IsInt()
  @Min(1_000)
  @Max(3_600_000)
  readonly BODY_SILENCE_MS: number = 30_000;

  @ToNumber()
  @IsInt()
  @Min(100)
  @Max(600_000)
  readonly PROVIDER_TIMEOUT_MS: number = 30_000;

  /** Bound for the silence of the stream of a run after its head; never less than the timeout of its call. */
  @ToNumber()
  @IsInt()
  @Min(1_000)
  @Max(3_600_000)
  readonly PROVIDER_STREAM_IDLE_MS: number = 600_000;

  /** Silence of an event stream after which its client gets a comment, so that no proxy gives it up. 0: never. */
  @ToNumber()
  @IsInt()
  @Min(0)
  @Max(600_000)
  readonly STREAM_KEEP_ALIVE_MS: number = 15_000;

  @ToNumber()
  @IsInt()
  @Min(1024)
  @Max(256 * 1024 * 1024)
  readonly PROVIDER_MAX_RESPONSE_BYTES: number = 32 * 1024 * 1024;

  @ToNumber()
  @IsInt()
  @Min(1)
  @Max(65_536)
  readonly PROVIDER_CONNECTIONS_PER_ORIGIN: number = 1_024;

  /** Streams (GET) that one caller may hold open at one MCP server, in each gateway process. */
  @ToNumber()
  @IsInt()
  @Min(1)
  @Max(100_000)
  readonly MCP_STREAMS_PER_CALLER: number = 16;

  /** Calls of one caller that may be in flight at one MCP server, in each gateway process; an answer may be a stream too. */
  @ToNumber()
  @IsInt()
  @Min(1)
  @Max(100_000)
  readonly MCP_CALLS_PER_CALLER: number = 512;

  @ToNumber()
  @IsInt()
  @Min(0)
  @Max(600_000)
  readonly SHUTDOWN_GRACE_MS: number = 10_000;

  /** The grace time of calls of models, whose answers may take minutes; never less than SHUTDOWN_GRACE_MS. */
  @ToNumber()
  @IsInt()
  @Min(0)
  @Max(3_600_000)
  readonly SHUTDOWN_INFERENCE_GRACE_MS: number = 600_000;

  /** How long the gateway goes on serving after the signal to stop, not ready any more, so that load balancers notice. */
  @ToNumber()
  @IsInt()
  @Min(0)
  @Max(600_000)
  readonly SHUTDOWN_DELAY_MS: number = 0;

  /** How long after its deadline a call in flight is presumed spent, because its gateway seems to have died. */
  @ToNumber()
  @IsInt()
  @Min(1_000)
  @Max(3_600_000)
  readonly USAGE_LEASE_MARGIN_MS: number = 30_000;

  /** How often a provider is asked at most whether a job is over that it bills later. */
  @ToNumber()
  @IsInt()
  @Min(100)
  @Max(3_600_000)
  readonly PROVIDER_JOB_CHECK_MS: number = 60_000;

  /** How long the counters of a week or month are kept after its end. */
  @ToNumber()
  @IsInt()
  @Min(30)
  @Max(3_660)
  readonly USAGE_COUNTER_DAYS: number = 90;

  /** How long the rows of the ledger are kept, at least: months are deleted whole. Absent: they are kept. */
  @OptionalSetting()
  @ToNumber()
  @IsInt()
  @Min(62)
  @Max(3_660)
  readonly USAGE_LEDGER_DAYS?: number;

  /** Most groups of a usage limit in one period. A call that would make one more is refused. */
  @ToNumber()
  @IsInt()
  @Min(100)
  @Max(10_000_000)
  readonly USAGE_MAX_GROUPS: number = 100_000;

  /** What happens to a call whose model has no price where a limit on costs applies. */
  @IsIn(['refuse', 'allow'])
  readonly USAGE_UNPRICED: 'refuse' | 'allow' = 'refuse';

  @OptionalSetting()
  @IsWebAddress()
  readonly OTEL_EXPORTER_OTLP_ENDPOINT?: string;

  @IsString()
  readonly OTEL_SERVICE_NAME: string = 'tollgate';
}

/** Names every setting that is wrong, never a value: values may be secrets. */
export class InvalidConfigError extends Error {
  constructor(problems: readonly string[]) {
    super(`The gateway cannot start, settings are wrong:\n${problems.map((line) => `  - ${line}`).join('\n')}`);
    this.name = 'InvalidConfigError';
  }
}

/** Reads and checks the settings; an empty variable, or one of spaces, counts as absent. */
export function loadConfig(environment: Readonly<Record<string, string | undefined>>): AppConfig {
  const given = Object.fromEntries(
    [...settingNames()].map((name) => [name, environment[name]]).filter(([, value]) => value?.trim()),
  );
  const config = plainToInstance(AppConfig, given, { exposeDefaultValues: true });
  const problems = validateSync(config).flatMap((error) => Object.values(error.constraints ?? {}).toReversed());
  problems.push(...crossFieldProblems(config));
  if (problems.length > 0) throw new InvalidConfigError(problems);
  return config;
}

/** Every setting has a rule, whether it has a default or not. */
function settingNames(): ReadonlySet<string> {
  const rules = getMetadataStorage().getTargetValidationMetadatas(AppConfig, '', false, false);
  return new Set(rules.map((rule) => rule.propertyName));
}

function crossFieldProblems(config: AppConfig): readonly string[] {
  const problems: string[] = [];
  if (config.NODE_ENV === 'production' && config.DATABASE_URL === undefined) {
    problems.push('DATABASE_URL is required in production: the embedded database does not survive a power loss');
  }
  if (config.DATABASE_URL !== undefined && config.TOLLGATE_ENCRYPTION_KEY === undefined) {
    problems.push('TOLLGATE_ENCRYPTION_KEY is required with DATABASE_URL (npm run keys:generate makes one)');
  }
  return [
    ...problems,
    ...egressProblems(config),
    ...serverProblems(config),
    ...redisProblems(config),
    ...awsIdentityProblems(config),
    ...oauthProblems(config),
    ...requestLogProblems(config),
    ...administratorProblems(config),
  ];
}

/** The settings of the gateway and of its commands: the environment, then `.env` in the working folder. */
export function readSettings(): AppConfig {
  readEnvironmentFile();
  return loadConfig(process.env);
}
