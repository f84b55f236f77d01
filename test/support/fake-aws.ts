import { GatewayError } from '../../src/common/errors/gateway.error.js';
import { type JsonObject, readObject } from '../../src/common/json/read.js';
import type { FakeBedrock } from '../../src/upstream/providers/bedrock/__fixtures__/fake-bedrock.js';
import { expectedSignature, readAuthorization } from '../../src/upstream/aws/__fixtures__/sigv4-verifier.js';
import type { UpstreamRequest } from '../../src/upstream/upstream.types.js';
import type { ProviderCall, Reply } from './fake-provider.js';
import { AWS_SECRET } from './rerank-gateway.js';

/** Bedrock's job API over HTTP. Refuses requests whose signature does not match. */
export function bedrockReply(bedrock: FakeBedrock): Reply {
  return (response, call) => {
    const answer = (status: number, body: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    if (!isSigned(call)) return answer(403, { message: 'The request signature does not match.' });
    const { pathname, searchParams } = new URL(call.path, 'http://bedrock');
    const body = call.body === '' ? undefined : JSON.parse(call.body);
    const method = call.method === 'POST' ? 'POST' : 'GET';
    void bedrock.ask({ method, path: pathname, query: Object.fromEntries(searchParams), body }).then(
      (found) => answer(200, found),
      (error: unknown) => answer(error instanceof GatewayError ? error.status : 500, { message: 'no such job' }),
    );
  };
}

/** The body of a call that has one. */
export function sentTo(call: ProviderCall | undefined): JsonObject {
  return readObject(JSON.parse(call?.body ?? ''), 'body');
}

export function isSigned({ method, path, headers, body }: ProviderCall): boolean {
  const sent: UpstreamRequest = {
    method: method === 'POST' ? 'POST' : 'GET',
    url: new URL(path, `http://${headers.host ?? ''}`),
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
    body: Buffer.from(body),
  };
  return readAuthorization(sent).signature === expectedSignature(sent, AWS_SECRET);
}
