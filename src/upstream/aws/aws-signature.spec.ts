import { describe, expect, it } from '@jest/globals';
import type { UpstreamRequest } from '../upstream.types.js';
import { SIGV4_SUITE } from './__fixtures__/sigv4-suite.js';
import { expectedSignature, readAuthorization } from './__fixtures__/sigv4-verifier.js';
import { signAwsRequest, type AwsCredentials } from './aws-signature.js';

// The key, time and scope of AWS's published test suite.
const SUITE_KEY: AwsCredentials = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
};
const SUITE_TIME = new Date('2015-08-30T12:36:00Z');
const SUITE_SCOPE = { service: 'service', region: 'us-east-1' };

const rerank: UpstreamRequest = {
  method: 'POST',
  url: new URL('https://bedrock-agent-runtime.us-east-1.amazonaws.com/rerank'),
  headers: { accept: 'application/json', 'content-type': 'application/json', 'user-agent': 'tollgate' },
  body: Buffer.from('{"query":"Zürich 🙂"}'),
};
const sign = (request: UpstreamRequest, credentials = SUITE_KEY): Promise<UpstreamRequest> =>
  signAwsRequest(request, credentials, { service: 'bedrock', region: 'us-east-1' }, SUITE_TIME);

describe('the independent verifier', () => {
  it.each(SIGV4_SUITE)('verifies the signature of %s in the published test suite', (_name, method, path, signature) => {
    const scope = 'AKIDEXAMPLE/20150830/us-east-1/service/aws4_request';
    const request: UpstreamRequest = {
      method,
      url: new URL(path, 'https://example.amazonaws.com'),
      headers: {
        'x-amz-date': '20150830T123600Z',
        authorization: `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host;x-amz-date, Signature=${signature}`,
      },
    };
    expect(expectedSignature(request, SUITE_KEY.secretAccessKey)).toBe(signature);
  });
});

describe('signAwsRequest', () => {
  it.each([
    ['a rerank', rerank],
    ['no body', { ...rerank, method: 'GET', body: undefined }],
    ['a port', { ...rerank, url: new URL('http://127.0.0.1:4000/rerank') }],
    ['an encoded path', { ...rerank, url: new URL('https://example.com/model/arn%3Aaws%3Abedrock%2Fx/invoke') }],
    ['a query', { ...rerank, url: new URL("https://example.com/?b=2&a=x%20y&a=1&c=(!'*)") }],
    ['spaces in a header', { ...rerank, headers: { ...rerank.headers, 'x-note': '  a   b ' } }],
  ] as const)('signs %s as AWS would', async (_name, request) => {
    const signed = await sign(request);
    expect(readAuthorization(signed).signature).toBe(expectedSignature(signed, SUITE_KEY.secretAccessKey));
  });

  it('signs host, date, body hash and content type, and no header that proxies change', async () => {
    const { accessKeyId, scope, signedHeaders } = readAuthorization(await sign(rerank));
    expect({ accessKeyId, scope }).toEqual({
      accessKeyId: 'AKIDEXAMPLE',
      scope: '20150830/us-east-1/bedrock/aws4_request',
    });
    expect(signedHeaders).toEqual(['accept', 'content-type', 'host', 'x-amz-content-sha256', 'x-amz-date']);
  });

  it('signs the session token of temporary credentials', async () => {
    const signed = await sign(rerank, { ...SUITE_KEY, sessionToken: 'the-token' });
    expect(signed.headers['x-amz-security-token']).toBe('the-token');
    expect(readAuthorization(signed).signedHeaders).toContain('x-amz-security-token');
    expect(readAuthorization(signed).signature).toBe(expectedSignature(signed, SUITE_KEY.secretAccessKey));
  });

  it('keeps address, body and the other headers, and sends no Host of its own', async () => {
    const signed = await sign(rerank);
    expect(signed).toMatchObject({ method: 'POST', url: rerank.url, body: rerank.body, headers: rerank.headers });
    expect(signed.headers).not.toHaveProperty('host');
  });

  it('replaces an old signature instead of signing it', async () => {
    const once = await sign(rerank);
    expect(await sign({ ...once })).toEqual(once);
  });

  it('signs differently for another time, body or scope', async () => {
    const signatures = await Promise.all([
      sign(rerank),
      sign({ ...rerank, body: Buffer.from('{}') }),
      signAwsRequest(rerank, SUITE_KEY, SUITE_SCOPE, SUITE_TIME),
      signAwsRequest(rerank, SUITE_KEY, SUITE_SCOPE, new Date(SUITE_TIME.getTime() + 1_000)),
    ]);
    expect(new Set(signatures.map((signed) => readAuthorization(signed).signature)).size).toBe(4);
  });
});
