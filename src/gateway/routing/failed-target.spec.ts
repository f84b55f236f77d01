import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { answerToError, failureToError } from '../../upstream/provider-error.js';
import { type UpstreamFailureKind, type UpstreamHeaders, UpstreamFailure } from '../../upstream/upstream.types.js';
import { failedTarget } from './failed-target.js';

const NOW = Date.UTC(2026, 10, 28, 12);
const PROVIDER = { slug: 'openai' } as const;

function afterStatus(status: number, headers: UpstreamHeaders = {}): ReturnType<typeof failedTarget> {
  const body = Buffer.from('{"error":{"message":"no"}}');
  return failedTarget(answerToError({ status, headers, body }, PROVIDER), NOW);
}

function afterFailure(kind: UpstreamFailureKind): ReturnType<typeof failedTarget> {
  return failedTarget(failureToError(new UpstreamFailure(kind, 'no')), NOW);
}

describe('a failed target', () => {
  it.each([401, 402, 403, 408, 425, 500, 502, 503, 504, 520, 529])('passes its call on after %d', (status) => {
    expect(afterStatus(status)).toEqual({ outcome: 'failed', mayFailOver: true });
  });

  it.each([400, 404, 405, 409, 413, 415, 422, 451, 501, 505])(
    'has answered with %d, which no other target gets to see',
    (status) => {
      expect(afterStatus(status)).toEqual({ outcome: 'answered', mayFailOver: false });
    },
  );

  it('passes its call on after 429, and pauses for as long as its provider asks', () => {
    expect(afterStatus(429, { 'retry-after': '20' })).toMatchObject({ outcome: 'limited', pauseMs: 20_000 });
    expect(afterStatus(429, { 'retry-after': 'Sat, 28 Nov 2026 12:00:30 GMT' })).toMatchObject({ pauseMs: 30_000 });
    expect(afterStatus(429, { 'retry-after-ms': '250' })).toMatchObject({ pauseMs: 250 });
    expect(afterStatus(429)).toEqual({ outcome: 'limited', mayFailOver: true, pauseMs: undefined });
  });

  it.each<UpstreamFailureKind>(['connect', 'broken', 'incomplete', 'interim', 'timeout', 'redirect'])(
    'passes its call on after a connection that ends as %s',
    (kind) => {
      expect(afterFailure(kind)).toEqual({ outcome: 'failed', mayFailOver: true });
    },
  );

  it.each<UpstreamFailureKind>(['busy', 'refused_by_egress'])(
    'passes its call on without a judgement after %s',
    (kind) => {
      expect(afterFailure(kind)).toEqual({ outcome: 'unknown', mayFailOver: true });
    },
  );

  it.each<UpstreamFailureKind>(['caller_gone', 'too_large'])(
    'keeps its call after %s: others would do no better',
    (kind) => {
      expect(afterFailure(kind)).toEqual({ outcome: 'unknown', mayFailOver: false });
    },
  );

  it('passes its call on when it does not speak the API, or its credential cannot be read', () => {
    for (const code of ['provider_not_supported', 'operation_not_offered'] as const)
      expect(failedTarget(new GatewayError(code), NOW)).toEqual({ outcome: 'unknown', mayFailOver: true });
    for (const code of ['secret_unavailable', 'provider_credential_rejected'] as const)
      expect(failedTarget(new GatewayError(code, { provider: { status: 400 } }), NOW)).toEqual({
        outcome: 'failed',
        mayFailOver: true,
      });
  });

  it('keeps its call after a refusal by the gateway, and after a defect', () => {
    for (const error of [new GatewayError('usage_limit_exceeded'), new GatewayError('not_found'), new Error('no')])
      expect(failedTarget(error, NOW)).toEqual({ outcome: 'unknown', mayFailOver: false });
  });
});
