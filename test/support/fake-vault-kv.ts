import { isObject, type JsonObject } from '../../src/common/json/read.js';

/** Status and body, without the common envelope of Vault's answers. */
export interface EngineReply {
  readonly status: number;
  readonly data?: unknown;
  readonly errors?: readonly string[];
  readonly warnings?: readonly string[];
  readonly leaseSeconds?: number;
  readonly leaseId?: string;
}

export interface EngineCall {
  readonly method: string;
  /** The path inside the mount. */
  readonly name: string;
  readonly version: number;
  readonly body: JsonObject;
}

export interface FakeEngine {
  readonly type: string;
  readonly options: Readonly<Record<string, string>> | null;
  handle(call: EngineCall): EngineReply;
}

const NOT_FOUND: EngineReply = { status: 404, errors: [] };
const UNSUPPORTED: EngineReply = { status: 405, errors: ['1 error occurred:\n\t* unsupported operation\n\n'] };

/** Key/value engine, version 1. */
export class FakeKvV1 implements FakeEngine {
  readonly type = 'kv';
  readonly options = null;
  private readonly secrets = new Map<string, JsonObject>();

  put(name: string, data: JsonObject): void {
    this.secrets.set(name, data);
  }

  handle({ method, name, body }: EngineCall): EngineReply {
    switch (method) {
      case 'GET': {
        const data = this.secrets.get(name);
        return data === undefined ? NOT_FOUND : { status: 200, data, leaseSeconds: 2_764_800 };
      }
      case 'POST':
      case 'PUT':
        this.put(name, body);
        return { status: 204 };
      case 'DELETE':
        this.secrets.delete(name);
        return { status: 204 };
      default:
        return UNSUPPORTED;
    }
  }
}

interface Version {
  data: JsonObject;
  readonly createdAt: number;
  deletedAt: number | undefined;
  destroyed: boolean;
}

/** Key/value engine, version 2. */
export class FakeKvV2 implements FakeEngine {
  readonly type = 'kv';
  readonly options = { version: '2' };
  private readonly secrets = new Map<string, Version[]>();

  constructor(private readonly now: () => number) {}

  /** Adds a version and returns its number. */
  put(name: string, data: JsonObject): number {
    const versions = this.secrets.get(name) ?? [];
    versions.push({ data, createdAt: this.now(), deletedAt: undefined, destroyed: false });
    this.secrets.set(name, versions);
    return versions.length;
  }

  softDelete(name: string, ...numbers: readonly number[]): void {
    for (const version of this.pick(name, numbers)) version.deletedAt = this.now();
  }

  undelete(name: string, ...numbers: readonly number[]): void {
    for (const version of this.pick(name, numbers)) version.deletedAt = undefined;
  }

  destroy(name: string, ...numbers: readonly number[]): void {
    for (const version of this.pick(name, numbers)) Object.assign(version, { destroyed: true, data: {} });
  }

  handle({ method, name, version, body }: EngineCall): EngineReply {
    const [action = '', ...rest] = name.split('/');
    const secret = rest.join('/');
    const writes = method === 'POST' || method === 'PUT';
    const numbers = Array.isArray(body['versions']) ? body['versions'].map(Number) : [];
    if (action === 'data' && method === 'GET') return this.read(secret, version);
    if (action === 'data' && method === 'DELETE') {
      this.softDelete(secret, this.secrets.get(secret)?.length ?? 0);
      return { status: 204 };
    }
    if (action === 'data' && writes) {
      if (!isObject(body['data'])) return { status: 400, errors: ['no data provided'] };
      const number = this.put(secret, body['data']);
      return { status: 200, data: this.metadataOf(secret, number) };
    }
    if (action === 'delete' && writes) this.softDelete(secret, ...numbers);
    else if (action === 'undelete' && writes) this.undelete(secret, ...numbers);
    else if (action === 'destroy' && writes) this.destroy(secret, ...numbers);
    else return invalidPath(method);
    return { status: 204 };
  }

  private read(name: string, wanted: number): EngineReply {
    const versions = this.secrets.get(name) ?? [];
    const number = wanted > 0 ? wanted : versions.length;
    const version = versions[number - 1];
    if (version === undefined) return NOT_FOUND;
    const metadata = this.metadataOf(name, number);
    const isGone = version.destroyed || (version.deletedAt !== undefined && version.deletedAt <= this.now());
    return { status: isGone ? 404 : 200, data: { data: isGone ? null : version.data, metadata } };
  }

  private metadataOf(name: string, number: number): object {
    const version = this.secrets.get(name)?.[number - 1];
    return {
      created_time: new Date(version?.createdAt ?? 0).toISOString(),
      custom_metadata: null,
      deletion_time: version?.deletedAt === undefined ? '' : new Date(version.deletedAt).toISOString(),
      destroyed: version?.destroyed ?? false,
      version: number,
    };
  }

  private pick(name: string, numbers: readonly number[]): readonly Version[] {
    return (this.secrets.get(name) ?? []).filter((_version, index) => numbers.includes(index + 1));
  }
}

/** An engine that creates a credential for each read. */
export class FakeDatabase implements FakeEngine {
  readonly type = 'database';
  readonly options = null;
  /** The number of credentials so far. */
  made = 0;

  handle({ method }: EngineCall): EngineReply {
    if (method !== 'GET') return UNSUPPORTED;
    this.made += 1;
    const data = { username: `v-token-${this.made}`, password: 'made-up' };
    return { status: 200, data, leaseSeconds: 3_600, leaseId: `database/creds/readonly/${this.made}` };
  }
}

function invalidPath(method: string): EngineReply {
  const command = method === 'GET' ? 'get' : 'put';
  return {
    status: 404,
    warnings: [
      'Invalid path for a versioned K/V secrets engine. See the API docs for the appropriate API endpoints to use. ' +
        `If using the Vault CLI, use 'vault kv ${command}' for this operation.`,
    ],
  };
}
