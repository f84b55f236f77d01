import { describe, expect, it } from '@jest/globals';
import type { UpstreamHeaders } from '../upstream.types.js';
import { type ProviderErrorText, readProviderError } from './error-text.js';

function read(body: unknown, headers: UpstreamHeaders = {}): ProviderErrorText {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const said = Object.entries(readProviderError({ status: 400, headers, body: bytes }));
  return Object.fromEntries(said.filter(([, value]) => value !== undefined));
}

describe('readProviderError', () => {
  it.each<readonly [string, unknown, ProviderErrorText]>([
    [
      'OpenAI',
      { error: { message: 'no', type: 'insufficient_quota', param: null, code: 'insufficient_quota' } },
      { message: 'no', type: 'insufficient_quota', code: 'insufficient_quota' },
    ],
    [
      'OpenAI about a field',
      { error: { message: 'no', type: 'invalid_request_error', param: 'limit', code: null } },
      { message: 'no', type: 'invalid_request_error', param: 'limit' },
    ],
    [
      'Azure OpenAI',
      { error: { code: 'OperationNotSupported', message: 'no' } },
      { message: 'no', code: 'OperationNotSupported' },
    ],
    ['Azure API Management', { statusCode: 404, message: 'Resource not found' }, { message: 'Resource not found' }],
    ['Cohere', { id: 'x', message: 'invalid api token' }, { message: 'invalid api token' }],
    [
      'MiniMax',
      { base_resp: { status_code: 1004, status_msg: 'login fail' } },
      { message: 'login fail', code: '1004' },
    ],
    ['Baidu', { error_code: 17, error_msg: 'no' }, { message: 'no', code: '17' }],
    ['WeChat', { errcode: 40_001, errmsg: 'no' }, { message: 'no', code: '40001' }],
    ['Voyage', { detail: 'Provided API key is invalid.' }, { message: 'Provided API key is invalid.' }],
    ['Jina', { code: 'INPUT_MODEL_NOT_FOUND', message: 'no' }, { message: 'no', code: 'INPUT_MODEL_NOT_FOUND' }],
    [
      'Mistral',
      {
        object: 'error',
        message: { detail: [{ loc: ['body', 'x'], msg: 'no' }] },
        type: 'invalid_request_error',
        code: null,
      },
      { message: 'x: no', param: 'x', type: 'invalid_request_error' },
    ],
    [
      'Pinecone',
      { error: { code: 'INVALID_ARGUMENT', message: 'Bad request.' }, status: 400 },
      { message: 'Bad request.', code: 'INVALID_ARGUMENT' },
    ],
    ['AWS', { message: 'no' }, { message: 'no' }],
    [
      'AWS in its other spelling',
      { __type: 'ThrottlingException', Message: 'no' },
      { message: 'no', type: 'ThrottlingException' },
    ],
    [
      'Google',
      [{ error: { code: 429, message: 'no', status: 'RESOURCE_EXHAUSTED' } }],
      { message: 'no', code: '429', type: 'RESOURCE_EXHAUSTED' },
    ],
    [
      'Anthropic',
      { type: 'error', error: { type: 'overloaded_error', message: 'no' } },
      { message: 'no', type: 'overloaded_error' },
    ],
    [
      'FastAPI',
      {
        detail: [
          { type: 'missing', loc: ['body', 'query'], msg: 'Field required' },
          { type: 'string_type', loc: ['body', 'documents', 0], msg: 'Input should be a string' },
        ],
      },
      {
        message: 'query: Field required; documents.0: Input should be a string',
        param: 'query',
        type: 'missing',
      },
    ],
    ['FastAPI with an object', { detail: { code: 'quota', message: 'no' } }, { message: 'no', code: 'quota' }],
    ['FastAPI with a nested error', { detail: { error: { message: 'no', type: 't' } } }, { message: 'no', type: 't' }],
    ['text embeddings inference', { error: 'no', error_type: 'Validation' }, { message: 'no', type: 'Validation' }],
    [
      'vLLM',
      { object: 'error', message: 'no', type: 'BadRequestError', param: null, code: 400 },
      { message: 'no', type: 'BadRequestError', code: '400' },
    ],
    ['Ollama', { error: 'no' }, { message: 'no' }],
    ['a text in JSON', '"no"', { message: 'no' }],
    [
      'a web framework that names the status',
      { error: 'Bad Request', message: 'no', statusCode: 400 },
      { message: 'no', code: 'Bad Request' },
    ],
    ['OAuth', { error: 'invalid_client', error_description: 'no' }, { message: 'no', code: 'invalid_client' }],
    [
      'problem details (RFC 9457)',
      { type: 'https://example.com/quota', title: 'Quota', detail: 'no', status: 403 },
      { message: 'no', type: 'https://example.com/quota' },
    ],
    ['a list of errors', { success: false, errors: [{ code: 1003, message: 'no' }] }, { message: 'no', code: '1003' }],
    ['Apigee', { fault: { faultstring: 'no', detail: { errorcode: 'x' } } }, { message: 'no' }],
    [
      'a gateway of this product',
      { error: { message: 'no', type: 'rate_limit_error', code: 'provider_rate_limited', provider_code: 'quota' } },
      { message: 'no', type: 'rate_limit_error', code: 'quota' },
    ],
    ['a name without a sentence', { error: { code: 'quota' } }, { code: 'quota' }],
  ])('reads the error of %s', (_who, body, said) => expect(read(body)).toEqual(said));

  it('reads plain text', () => {
    const headers = { 'content-type': 'text/plain; charset=utf-8' };
    expect(read(' upstream connect error\n', headers)).toEqual({ message: 'upstream connect error' });
  });

  it.each(['ValidationException:http://internal.amazon.com/', 'com.amazon.coral#ValidationException'])(
    'reads the type of an AWS error from the header %s',
    (type) => {
      expect(read({ message: 'no' }, { 'x-amzn-errortype': type })).toEqual({
        message: 'no',
        type: 'ValidationException',
      });
    },
  );

  it.each<readonly [unknown, string]>([
    [null, ''],
    ['', 'text/plain'],
    ['not JSON', 'text/html'],
    ['not JSON', ''],
    ['<html>Bad gateway</html>', 'text/plain'],
    [7, ''],
    [[], ''],
    [{}, ''],
    [{ message: 7 }, ''],
    [{ message: '' }, ''],
    [{ error: {} }, ''],
    [{ error: null }, ''],
    [{ detail: {} }, ''],
    [{ detail: [null, { msg: 7 }] }, ''],
    [{ a: { error: 'x' } }, ''],
    [{ error: { error: { error: { error: { error: 'too deep' } } } } }, ''],
  ])('reads nothing from %j (%s)', (body, type) => expect(read(body, { 'content-type': type })).toEqual({}));

  it('reads no more than a few items of a list', () => {
    const { message = '' } = read({ errors: Array.from({ length: 100_000 }, () => 'no') });
    expect(message.split('; ')).toHaveLength(20);
  });
});
