import { IsInt, IsString, Matches, Max, Min } from 'class-validator';
import { ToNumber } from '../common/validation/conversion.decorators.js';
import { EgressSettings } from './egress-settings.js';
import { IsWebAddress, OptionalSetting } from './setting.decorators.js';

/** Names of buckets: https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html */
const BUCKET = /^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](?:\/[A-Za-z0-9._-]+)*\/?$/;

/** Settings of the log of calls. */
export class RequestLogSettings extends EgressSettings {
  /** How many days the log of calls is kept. 0: calls are not logged in the database. */
  @ToNumber()
  @IsInt()
  @Min(0)
  @Max(3_660)
  readonly REQUEST_LOG_DAYS: number = 30;

  /** Where bodies of calls are kept, for workspaces that want it: a folder, or `s3://bucket/prefix`. Absent: nowhere. */
  @OptionalSetting()
  @IsString()
  readonly REQUEST_LOG_BODIES?: string;

  @Matches(/^[a-z0-9-]{1,64}$/, { message: '$property must be the name of a region' })
  readonly REQUEST_LOG_S3_REGION: string = 'us-east-1';

  /** Of a store that speaks S3 and is not AWS. */
  @OptionalSetting()
  @IsWebAddress()
  readonly REQUEST_LOG_S3_ENDPOINT?: string;

  /** With the secret, the key for this bucket alone; without, the gateway's own AWS identity. */
  @OptionalSetting()
  @IsString()
  readonly REQUEST_LOG_S3_ACCESS_KEY_ID?: string;

  @OptionalSetting()
  @IsString()
  readonly REQUEST_LOG_S3_SECRET_ACCESS_KEY?: string;
}

/** What is wrong with settings that are each right for themselves. */
export function requestLogProblems(settings: RequestLogSettings): readonly string[] {
  const { REQUEST_LOG_BODIES: place, REQUEST_LOG_S3_ACCESS_KEY_ID: id } = settings;
  const problems: string[] = [];
  if (place?.startsWith('s3:') === true && !BUCKET.test(place)) {
    problems.push('REQUEST_LOG_BODIES must be a folder, or have the form s3://bucket/prefix');
  }
  if (place !== undefined && settings.REQUEST_LOG_DAYS === 0) {
    problems.push('REQUEST_LOG_BODIES is of no use with REQUEST_LOG_DAYS=0: bodies belong to logged calls');
  }
  if ((id === undefined) !== (settings.REQUEST_LOG_S3_SECRET_ACCESS_KEY === undefined)) {
    problems.push('REQUEST_LOG_S3_ACCESS_KEY_ID and REQUEST_LOG_S3_SECRET_ACCESS_KEY go together: set both or none');
  }
  return problems;
}
