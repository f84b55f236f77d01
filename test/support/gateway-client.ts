import { type JsonObject, readArray, readObject, readString } from '../../src/common/json/read.js';
import { type Answer, jsonOf, send } from './send.js';
import { ADMIN_KEY } from './test-app.js';

const MAX_PAGE_SIZE = 100;

/** A JSON client of a gateway, as one caller. */
export class GatewayClient {
  constructor(
    private readonly url: string,
    /** The headers that identify the caller. */
    private readonly credentials: Readonly<Record<string, string>> = { 'x-gateway-api-key': ADMIN_KEY },
  ) {}

  /** The same gateway with another key. */
  as(key: string): GatewayClient {
    return new GatewayClient(this.url, { 'x-gateway-api-key': key });
  }

  /** The same gateway with a bearer token. */
  withToken(token: string): GatewayClient {
    return new GatewayClient(this.url, { authorization: `Bearer ${token}` });
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.request('GET', path, undefined, headers);
  }

  delete(path: string, body?: unknown): Promise<Answer> {
    return this.request('DELETE', path, body);
  }

  post(path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.request('POST', path, body, headers);
  }

  patch(path: string, body: unknown): Promise<Answer> {
    return this.request('PATCH', path, body);
  }

  put(path: string, body: unknown): Promise<Answer> {
    return this.request('PUT', path, body);
  }

  request(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const type: Readonly<Record<string, string>> = body === undefined ? {} : { 'content-type': 'application/json' };
    return send(this.url + path, {
      method,
      headers: { ...type, ...this.credentials, ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  /** The body of a create that must succeed. */
  async create(path: string, body: object): Promise<JsonObject> {
    const answer = await this.post(path, body);
    if (answer.status !== 201) throw new Error(`POST ${path} answered ${answer.status}: ${answer.text}`);
    return jsonOf(answer);
  }

  /** The body of a read that must succeed. */
  async read(path: string): Promise<JsonObject> {
    const answer = await this.get(path);
    if (answer.status !== 200) throw new Error(`GET ${path} answered ${answer.status}: ${answer.text}`);
    return jsonOf(answer);
  }

  /** The items of all pages of a list. */
  async listAll(path: string): Promise<readonly JsonObject[]> {
    const items: JsonObject[] = [];
    for (let page = 0; ; page += 1) {
      const found = await this.list(`${path}?page_size=${MAX_PAGE_SIZE}&current_page=${page}`);
      items.push(...found);
      if (found.length < MAX_PAGE_SIZE) return items;
    }
  }

  /** The items of a list that must succeed. */
  async list(path: string): Promise<readonly JsonObject[]> {
    const { data } = await this.read(path);
    return readArray(data, 'body.data').map((item, index) => readObject(item, `body.data[${index}]`));
  }

  async createKey(
    fields: object,
  ): Promise<{ readonly id: string; readonly key: string; readonly client: GatewayClient }> {
    const created = await this.create('/v1/api-keys', { name: 'a key', level: 'organisation', ...fields });
    const key = readString(created['key'], 'body.key');
    return { id: readString(created['id'], 'body.id'), key, client: this.as(key) };
  }

  async createWorkspace(name: string): Promise<string> {
    return readString((await this.create('/v1/workspaces', { name }))['id'], 'body.id');
  }
}
