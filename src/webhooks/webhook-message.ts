// Standard Webhooks: headers webhook-id, webhook-timestamp and webhook-signature, body {type, timestamp, data}.
// Source: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
import { Webhook } from 'standardwebhooks';

/** Bodies are smaller: the specification asks for less than 20 kB. */
export const MAX_BODY_BYTES = 20_000;

export interface EventContent {
  readonly type: string;
  readonly occurredAt: Date;
  /** JSON text, as the database has it: figures keep all their digits. */
  readonly data: string;
}

/** The same bytes for every attempt at every endpoint. */
export function eventBody({ type, occurredAt, data }: EventContent): string {
  return `{"type":${JSON.stringify(type)},"timestamp":"${occurredAt.toISOString()}","data":${data}}`;
}

/** @param secrets in the form `whsec_…`; each signs, so that a receiver may know any of them */
export function signedHeaders(
  id: string,
  attemptedAt: Date,
  body: string,
  secrets: readonly string[],
): Readonly<Record<string, string>> {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(attemptedAt.getTime() / 1_000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, attemptedAt, body)).join(' '),
  };
}
