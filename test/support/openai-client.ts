import OpenAI from 'openai';
import type { RerankGateway } from './rerank-gateway.js';
import { type Answer, type Message, send } from './send.js';
import { ADMIN_KEY } from './test-app.js';

/** The official SDK, pointed at the gateway as docs/guides/sdk.md says. */
export function openaiClient({ app }: Pick<RerankGateway, 'app'>, virtualKey: string): OpenAI {
  return new OpenAI({
    baseURL: `${app.url}/v1`,
    apiKey: 'unused',
    maxRetries: 0,
    defaultHeaders: { 'x-gateway-api-key': ADMIN_KEY, 'x-gateway-virtual-key': virtualKey },
  });
}

export type Ask = (method: string, path: string, more?: AskOptions) => Promise<Answer>;

interface AskOptions extends Omit<Message, 'method' | 'path' | 'headers' | 'body'> {
  /** undefined: not sent. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** Strings and bytes are sent unchanged, everything else as JSON. */
  readonly body?: unknown;
}

/** Plain requests below `/v1`. Paths are sent exactly as given. */
export function plainly({ app }: Pick<RerankGateway, 'app'>, virtualKey: string): Ask {
  return (method, path, { headers, body, ...more } = {}) =>
    send(app.url, {
      ...more,
      path: `/v1${path}`,
      method,
      headers: present({
        'x-gateway-api-key': ADMIN_KEY,
        'x-gateway-virtual-key': virtualKey,
        'content-type': body === undefined ? undefined : 'application/json',
        ...headers,
      }),
      ...(body === undefined
        ? {}
        : { body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body) }),
    });
}

function present(headers: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
