import { isDeepStrictEqual } from 'node:util';
import type { BodyLogging } from '../access/principal.js';
import { invalidField } from '../common/errors/gateway.error.js';
import type { AppConfig } from '../config/environment.js';
import type { UpdateWorkspaceDto } from './dto/workspace.dto.js';

const DEFAULT_MAX_BYTES = 64 * 1024;
const DEFAULT_RETENTION_DAYS = 7;

type StoreSettings = Pick<AppConfig, 'REQUEST_LOG_BODIES' | 'REQUEST_LOG_DAYS'>;

/**
 * How a workspace wants the bodies of its calls to be kept; undefined: the request does not say. What is stored can be written back,
 * whatever the operator has changed since.
 * @throws GatewayError `validation_failed` where bodies cannot be kept, or not for so long
 */
export function bodyLoggingOf(
  { log_bodies: wanted }: Pick<UpdateWorkspaceDto, 'log_bodies'>,
  { REQUEST_LOG_BODIES: place, REQUEST_LOG_DAYS: days }: StoreSettings,
  stored: BodyLogging | null = null,
): BodyLogging | null | undefined {
  if (wanted === undefined || wanted === null) return wanted;
  const { sample_rate: sampleRate = 1, max_bytes: maxBytes = DEFAULT_MAX_BYTES } = wanted;
  const { retention_days: retentionDays = Math.min(DEFAULT_RETENTION_DAYS, days) } = wanted;
  const rules = { sampleRate, maxBytes, retentionDays };
  if (isDeepStrictEqual(rules, stored)) return rules;
  if (place === undefined) throw invalidField('log_bodies', 'needs a store: the operator sets REQUEST_LOG_BODIES');
  if (retentionDays <= days) return rules;
  throw invalidField('log_bodies.retention_days', `must not be greater than ${days}, the days that the log is kept`);
}
