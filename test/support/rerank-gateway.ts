import { readString } from '../../src/common/json/read.js';
import { type FakeProvider, startFakeProvider } from './fake-provider.js';
import { GatewayClient } from './gateway-client.js';
import { type Answer, type Message, send } from './send.js';
import { ADMIN_KEY, startTestApp, type TestApp } from './test-app.js';

export const PROVIDER_KEY = 'provider-key-4f1c9b7e';
export const AWS_ACCESS_KEY_ID = 'AKIDEXAMPLE123456789';
export const AWS_SECRET = 'aws-secret-8d2e6a0f/for+tests';
export const BEDROCK_MODEL = 'arn:aws:bedrock:us-east-1::foundation-model/cohere.rerank-v3-5:0';

/** Valid for every provider except Bedrock, whose models have other names. */
export const VALID = { model: 'some-model', query: 'capital of France', documents: ['Rome', 'Paris is the capital'] };

/** A gateway, and a provider behind it. */
export interface RerankGateway {
  readonly app: TestApp;
  readonly provider: FakeProvider;
  /** Creates a virtual key for the fake provider; returns its slug. */
  virtualKey(provider: string, options?: VirtualKeyOptions): Promise<string>;
  /** Objects are sent as JSON, strings and bytes unchanged. */
  rerank(virtualKey: string, body: unknown, more?: Pick<Message, 'headers' | 'signal'>): Promise<Answer>;
  close(): Promise<void>;
}

interface VirtualKeyOptions {
  /** Appended to the address of the fake provider. */
  readonly path?: string;
  readonly config?: Readonly<Record<string, unknown>>;
}

export async function startRerankGateway(
  settings: Readonly<Record<string, string>> = {},
  keepDatabase = false,
): Promise<RerankGateway> {
  const [app, provider] = await Promise.all([startTestApp(settings, keepDatabase), startFakeProvider()]);
  return {
    app,
    provider,
    virtualKey: async (slug, { path = '', config = {} } = {}) => {
      const created = await new GatewayClient(app.url).create('/v1/virtual-keys', {
        name: slug,
        provider: slug,
        ...credentialOf(slug),
        config: { base_url: provider.url + path, ...awsOptionsOf(slug), ...config },
      });
      return readString(created['slug'], 'body.slug');
    },
    rerank: (virtualKey, body, { headers, ...more } = {}) =>
      send(`${app.url}/v1/rerank`, {
        body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
        headers: {
          'content-type': 'application/json',
          'x-gateway-api-key': ADMIN_KEY,
          'x-gateway-virtual-key': virtualKey,
          ...headers,
        },
        ...more,
      }),
    close: async () => {
      await app.close();
      await provider.close();
    },
  };
}

function credentialOf(provider: string): object {
  return provider === 'bedrock' ? {} : { key: PROVIDER_KEY };
}

function awsOptionsOf(provider: string): object {
  if (provider !== 'bedrock') return {};
  return { aws_region: 'us-east-1', aws_access_key_id: AWS_ACCESS_KEY_ID, aws_secret_access_key: AWS_SECRET };
}
