import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { eventBody, signedHeaders } from './webhook-message.js';

// The vector of the specification's own libraries.
// Source: https://github.com/standard-webhooks/standard-webhooks/blob/main/libraries/javascript/src/index.test.ts
const VECTOR = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  at: new Date(1_614_265_330_000),
  body: '{"test": 2432232314}',
  signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
};
const OTHER_SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;

describe('signedHeaders', () => {
  it('signs the published test vector as published', () => {
    expect(signedHeaders(VECTOR.id, VECTOR.at, VECTOR.body, [VECTOR.secret])).toEqual({
      'webhook-id': VECTOR.id,
      'webhook-timestamp': '1614265330',
      'webhook-signature': VECTOR.signature,
    });
  });

  it('signs id, time and body as the specification says', () => {
    const key = Buffer.from(OTHER_SECRET.slice(6), 'base64');
    const content = `${VECTOR.id}.1614265330.${VECTOR.body}`;
    const headers = signedHeaders(VECTOR.id, VECTOR.at, VECTOR.body, [OTHER_SECRET]);
    expect(headers['webhook-signature']).toBe(`v1,${createHmac('sha256', key).update(content).digest('base64')}`);
  });

  it('signs with every secret, in their order', () => {
    const headers = signedHeaders(VECTOR.id, VECTOR.at, VECTOR.body, [OTHER_SECRET, VECTOR.secret]);
    const [first, second, ...others] = headers['webhook-signature']?.split(' ') ?? [];
    expect([second, others]).toEqual([VECTOR.signature, []]);
    expect(first).not.toBe(VECTOR.signature);
  });

  it('makes another signature when the id, the time or the body changes', () => {
    const now = new Date();
    const headers = signedHeaders('id-1', now, '{"a":1}', [VECTOR.secret]);
    const webhook = new Webhook(VECTOR.secret);
    expect(webhook.verify('{"a":1}', headers)).toEqual({ a: 1 });
    const later = String(Math.floor(now.getTime() / 1_000) + 1);
    expect(() => webhook.verify('{"a":2}', headers)).toThrow('No matching signature');
    expect(() => webhook.verify('{"a":1}', { ...headers, 'webhook-id': 'id-2' })).toThrow('No matching signature');
    expect(() => webhook.verify('{"a":1}', { ...headers, 'webhook-timestamp': later })).toThrow(
      'No matching signature',
    );
  });
});

describe('eventBody', () => {
  it('wraps the unchanged data with its type and its time', () => {
    const data = '{"credit_limit": 9007199254740993.000000001}';
    expect(eventBody({ type: 'usage_limit.reset', occurredAt: new Date(0), data })).toBe(
      `{"type":"usage_limit.reset","timestamp":"1970-01-01T00:00:00.000Z","data":${data}}`,
    );
  });

  it('writes the event as JSON for every type', () => {
    const body = eventBody({ type: '"},{"', occurredAt: new Date(0), data: '{}' });
    expect(JSON.parse(body)).toMatchObject({ type: '"},{"' });
  });
});
