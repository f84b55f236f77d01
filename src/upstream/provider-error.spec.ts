import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../common/errors/gateway.error.js';
import { answerToError, errorInAnswer, failureToError, parseProviderJson, type ErrorReader } from './provider-error.js';
import { UpstreamFailure, type UpstreamAnswer, type UpstreamHeaders } from './upstream.types.js';

const provider: ErrorReader = {
  slug: 'cohere',
  credentialStatuses: [498],
};

function answer(status: number, body: unknown = '', headers: UpstreamHeaders = {}): UpstreamAnswer {
  return { status, headers, body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)) };
}

describe('answerToError', () => {
  it.each([401, 403, 498])("reports a refused credential for %d, in the gateway's own words", (status) => {
    const error = answerToError(answer(status, { message: 'bad key sk-live-123' }), provider, {
      secrets: ['sk-live-1234567890'],
    });
    expect(error).toMatchObject({ code: 'provider_credential_rejected', status: 502, source: 'provider' });
    expect(error.headers).toEqual({ 'x-should-retry': 'false' });
    expect(error.reason).toBe(`cohere answered ${status}: bad key ****`);
    expect(error.message).not.toContain('bad key');
  });

  it('distinguishes a refused call from a refused credential', () => {
    const aws: ErrorReader = { slug: 'bedrock', refusesCredential: ({ headers }) => 'x-bad-signature' in headers };
    const [unknown, forbidden, unsigned] = [
      answerToError(answer(401, { message: 'no' }), aws),
      answerToError(answer(403, { message: 'Model access is not enabled.' }), aws),
      answerToError(answer(403, { message: 'no' }, { 'x-bad-signature': '1' }), aws),
    ];
    expect(unknown.message).toBe(unsigned.message);
    expect(forbidden.message).toBe('The provider does not permit this call with the credential of the virtual key.');
    expect(forbidden.reason).toBe('bedrock answered 403: Model access is not enabled.');
  });

  it('keeps words of the request out of the log', () => {
    const sent = Buffer.from('{"query":"salaries of directors","documents":["Ms Fernandez earns 900000"]}');
    const message = 'denied: query "salaries of directors" and documents Fernandez, 900000.';
    const error = answerToError(answer(403, { message }), provider, { secrets: [], sent });
    expect(error.reason).toBe('cohere answered 403: denied: query "**** of ****" and documents ****, ****');
  });

  it.each([400, 401, 403, 429, 500, 503])("keeps the provider's own code and type of a %i", (status) => {
    const body = { error: { message: 'no', type: 'insufficient_quota', code: 'a\u0000b'.padEnd(999, 'c') } };
    const { provider: said } = answerToError(answer(status, body), provider);
    expect(said).toMatchObject({ status, type: 'insufficient_quota' });
    expect(said?.code).toMatch(/^a bc+$/);
    expect(said?.code).toHaveLength(100);
  });

  it.each([
    [408, 'provider_timeout', 504],
    [500, 'provider_failed', 502],
    [501, 'provider_failed', 502],
    [503, 'provider_failed', 502],
    [529, 'provider_failed', 502],
    [302, 'provider_invalid_response', 502],
    [204, 'provider_invalid_response', 502],
    [600, 'provider_invalid_response', 502],
  ])('maps %d to %s', (status, code, ours) => {
    const error = answerToError(answer(status, { message: 'the words of the provider' }), provider);
    expect(error).toMatchObject({ code, status: ours, reason: expect.stringContaining(`cohere answered ${status}`) });
    expect(error.message).not.toContain('the words of the provider');
  });

  it.each(['<html>Bad gateway</html>', 'upstream connect error', '{"message":', ' '])(
    'reports a failure of the provider for a 5xx of some proxy with the body %p',
    (body) => {
      expect(answerToError(answer(502, body), provider)).toMatchObject({
        code: 'provider_failed',
        message: 'The provider could not be reached or failed.',
        reason: `cohere answered 502 and no JSON, but ${body.length} bytes of no content-type`,
        provider: { isForeignPage: true },
      });
    },
  );

  it.each(['', '{}', 'null', '"down"'])('reports a failure of the provider for a 5xx with the body %p', (body) => {
    expect(answerToError(answer(503, body), provider).code).toBe('provider_failed');
  });

  it.each([400, 402, 404, 409, 413, 422])('passes a %d on with its status and the words of the provider', (status) => {
    const error = answerToError(answer(status, { message: 'no such model', param: 'model' }), provider);
    expect(error).toMatchObject({ code: 'provider_rejected', status, message: 'no such model', param: 'model' });
  });

  it.each(['<html>Not found</html>', '', '[]', 'null', '{"detail":1}', '{"message":""}', '{"message":"\\u0000\\n "}'])(
    "keeps the gateway's own message for the error body %p",
    (body) => {
      expect(answerToError(answer(404, body), provider)).toMatchObject({
        code: 'provider_rejected',
        status: 404,
        message: 'The provider rejected the request.',
        param: null,
      });
    },
  );

  it('bounds the words of the provider and removes control characters', () => {
    expect(answerToError(answer(400, { message: 'a\u0000\r\nb\u001b[31m\u009fc' }), provider).message).toBe(
      'a b [31m c',
    );
    expect(answerToError(answer(400, { message: 'x'.repeat(5_000) }), provider).message).toHaveLength(1_000);
    expect(answerToError(answer(400, { message: 'x', param: 'p'.repeat(999) }), provider).param).toHaveLength(200);
  });

  it('does not cut a character in half', () => {
    const { message } = answerToError(answer(400, { message: `${'x'.repeat(999)}😀` }), provider);
    expect(message).toBe('x'.repeat(999));
  });

  it('passes on why the rate is limited, in the words of the provider: its quota may be used up', () => {
    const error = answerToError(answer(429, { message: 'You exceeded your quota.' }), provider);
    const known = { code: 'provider_rate_limited', status: 429, reason: 'cohere answered 429' };
    expect(error).toMatchObject({ ...known, message: 'You exceeded your quota.' });
    expect(answerToError(answer(429, '<p>slow down</p>'), provider).message).toBe(
      'The provider is limiting the request rate.',
    );
  });

  describe.each([429, 500, 503, 529])('of a %i', (status) => {
    it.each(['30', 'Sat, 21 Nov 2026 12:00:05 GMT'])('passes Retry-After on: %s', (value) => {
      const { headers } = answerToError(answer(status, '', { 'retry-after': value }), provider);
      expect(headers).toEqual({ 'Retry-After': value });
    });

    it.each([
      [{ 'retry-after-ms': '3000' }, { 'Retry-After': '3', 'retry-after-ms': '3000' }],
      [{ 'retry-after-ms': '120.5' }, { 'Retry-After': '1', 'retry-after-ms': '120.5' }],
      [
        { 'retry-after-ms': '1500', 'retry-after': '9' },
        { 'Retry-After': '9', 'retry-after-ms': '1500' },
      ],
      [{ 'retry-after-ms': 'soon', 'retry-after': '9' }, { 'Retry-After': '9' }],
      [{ 'retry-after-ms': '1\r\nx-injected: 1' }, {}],
    ])('passes on the requested wait in milliseconds, and in seconds too: %p', (given, passed) => {
      expect(answerToError(answer(status, '', given), provider).headers).toEqual(passed);
    });

    it('passes on that a retry is useless', () => {
      const { headers } = answerToError(answer(status, '', { 'x-should-retry': 'false' }), provider);
      expect(headers).toEqual({ 'x-should-retry': 'false' });
    });

    it.each([{}, { 'retry-after': 'soon' }, { 'retry-after': '-1' }, { 'x-should-retry': 'true' }])(
      'says nothing about a retry for %p',
      (headers) => expect(answerToError(answer(status, '', headers), provider).headers).toEqual({}),
    );
  });

  it("passes on Retry-After of a proxy's page", () => {
    const error = answerToError(answer(503, '<html>busy</html>', { 'retry-after': '5' }), provider);
    expect([error.code, error.headers]).toEqual(['provider_failed', { 'Retry-After': '5' }]);
  });

  it('accepts a provider without credentialStatuses', () => {
    const plain: ErrorReader = { slug: 'jina' };
    expect(answerToError(answer(498), plain).code).toBe('provider_rejected');
  });
});

describe('errorInAnswer', () => {
  const found = (body: unknown, isSure: boolean) => errorInAnswer(answer(200, body), provider, { secrets: [] }, isSure);

  it.each([
    { error: { message: 'no', type: 'overloaded_error' } },
    { error: 'no' },
    { object: 'error', message: 'no' },
    { type: 'error', error: { message: 'no' } },
    { success: false, errors: [{ message: 'no' }] },
    { detail: 'no' },
    { status: 'failure', message: 'no' },
    { base_resp: { status_code: 1004, status_msg: 'no' } },
    { id: 'x', base_resp: { status_code: 1004, status_msg: 'no' } },
    { code: 1001, msg: 'no', data: [] },
    { error_code: 17, error_msg: 'no' },
  ])('finds the error in an answer with status 200: %j', (body) => {
    for (const isSure of [true, false]) {
      expect(found(body, isSure)).toMatchObject({ code: 'provider_failed', status: 502, message: 'no' });
    }
  });

  it.each([
    [{ error: { code: 429, message: 'no' } }, 'provider_rate_limited', 429],
    [{ error: { code: '400', message: 'no' } }, 'provider_rejected', 400],
    [{ object: 'error', code: 404, message: 'no' }, 'provider_rejected', 404],
    [{ status_code: 401, error: 'no' }, 'provider_credential_rejected', 502],
    [{ base_resp: { status_code: 429, status_msg: 'no' } }, 'provider_rate_limited', 429],
    [{ code: 403, msg: 'no' }, 'provider_credential_rejected', 502],
  ])('uses the status that the error names: %j', (body, code, status) => {
    expect(found(body, false)).toMatchObject({ code, status });
  });

  it('reads a mere message as an error only in an answer that cannot be used', () => {
    expect(found({ message: 'no' }, true)).toMatchObject({ message: 'no' });
    expect(found({ message: 'no' }, false)).toBeUndefined();
  });

  it.each([
    { id: 'ftjob-1', error: { message: 'the job failed' } },
    { id: 'batch_1', errors: [{ message: 'a line failed' }] },
    { error: null },
    { error: {} },
    { errors: [] },
    {},
    [],
    null,
  ])('finds no error in %j', (body) => expect(found(body, false)).toBeUndefined());

  it.each([{ code: 0, message: 'success', data: {} }, { base_resp: { status_code: 0, status_msg: 'success' } }])(
    'takes the message of a success for no error: %j',
    (body) => {
      for (const isSure of [true, false]) expect(found(body, isSure)).toBeUndefined();
    },
  );

  it.each([
    { results: [], message: 'no' },
    { data: [], error: 'no' },
  ])('keeps results with a note: %j', (body) => {
    expect(found(body, true)).toBeUndefined();
  });
});

describe('failureToError', () => {
  it.each([
    ['refused_by_egress', 'provider_failed'],
    ['connect', 'provider_failed'],
    ['broken', 'provider_failed'],
    ['incomplete', 'provider_invalid_response'],
    ['interim', 'provider_invalid_response'],
    ['too_large', 'provider_invalid_response'],
    ['redirect', 'provider_invalid_response'],
    ['timeout', 'provider_timeout'],
  ] as const)('maps the failure %s to %s', (kind, code) => {
    const failure = new UpstreamFailure(kind, 'what happened');
    const error = failureToError(failure);
    expect(error).toBeInstanceOf(GatewayError);
    expect(error).toMatchObject({ code, reason: `${kind}: what happened`, cause: failure });
    expect(error.message).not.toContain('what happened');
  });

  it('returns caller_gone unchanged', () => {
    const failure = new UpstreamFailure('caller_gone', 'left');
    expect(failureToError(failure)).toBe(failure);
  });
});

describe('parseProviderJson', () => {
  it.each([[{ a: 1 }], [[]], [null], [0]])('parses the answer %p', (value) => {
    expect(parseProviderJson(answer(200, JSON.stringify(value)))).toEqual(value);
  });

  it('ignores a byte order mark', () => {
    expect(parseProviderJson(answer(200, '\uFEFF{"a":1}'))).toEqual({ a: 1 });
    expect(answerToError(answer(404, '\uFEFF{"message":"no such model"}'), provider).message).toBe('no such model');
  });

  it('refuses a second byte order mark', () => {
    expect(() => parseProviderJson(answer(200, '\uFEFF\uFEFF{}'))).toThrow(GatewayError);
  });

  it.each(['gzip', 'br'])('names the coding of an unreadable answer: %s', (coding) => {
    const headers = { 'content-type': 'application/json', 'content-encoding': coding };
    const reason = `expected JSON, got 3 bytes of application/json in ${coding} (status 200)`;
    expect(() => parseProviderJson(answer(200, '???', headers))).toThrow(expect.objectContaining({ reason }));
    expect(answerToError(answer(503, '???', headers), provider).reason).toBe(
      `cohere answered 503 and no JSON, but 3 bytes of application/json in ${coding}`,
    );
  });

  it('names no coding when there is none', () => {
    const headers = { 'content-type': 'application/json', 'content-encoding': 'Identity' };
    const reason = 'expected JSON, got 3 bytes of application/json (status 200)';
    expect(() => parseProviderJson(answer(200, '???', headers))).toThrow(expect.objectContaining({ reason }));
  });

  it.each(['', '<html>secret words</html>', '{"a":', 'secret words'])('refuses %p and does not repeat it', (body) => {
    const parse = (): unknown => parseProviderJson(answer(200, body, { 'content-type': 'text/html\u0007' }));
    expect(parse).toThrow(
      expect.objectContaining({
        code: 'provider_invalid_response',
        reason: `expected JSON, got ${body.length} bytes of text/html (status 200)`,
        cause: undefined,
      }),
    );
  });

  it('reports a missing content type', () => {
    expect(() => parseProviderJson(answer(200, 'x'))).toThrow(
      expect.objectContaining({ reason: 'expected JSON, got 1 bytes of no content-type (status 200)' }),
    );
  });
});
