import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { complaintAbout, namedIn } from './__fixtures__/complaints.js';
import { InvalidConfigError, loadConfig } from './environment.js';

const KEY = Buffer.alloc(32, 7).toString('base64');
const ORGANISATION = '2f1c0c56-5d0c-4f3e-9d0a-6f8f2f6f0a11';
const SHARED = { DATABASE_URL: 'postgres://user:hunter2@db.example:5432/tollgate', TOLLGATE_ENCRYPTION_KEY: KEY };
const OIDC = {
  ADMIN_OIDC_ISSUER: 'https://login.example.com',
  ADMIN_OIDC_AUDIENCE: 'tollgate',
  ADMIN_OIDC_JWKS_URI: 'https://login.example.com/keys',
};

/** Whether a value of it is taken, or complained about. */
function isRead(name: string): boolean {
  try {
    return [Reflect.get(loadConfig({ [name]: 'another' }), name)].flat().includes('another');
  } catch (error) {
    return error instanceof InvalidConfigError && error.message.includes(name);
  }
}

describe('without any setting', () => {
  it('has a default for everything that the gateway needs', () => {
    expect(loadConfig({})).toMatchObject({
      NODE_ENV: 'development',
      listenHost: '127.0.0.1',
      PORT: 8787,
      LOG_LEVEL: 'info',
      DATA_DIR: './data',
      EGRESS_ALLOW: [],
      TOLLGATE_ENCRYPTION_KEYS_PREVIOUS: [],
    });
    expect(loadConfig({}).DATABASE_URL).toBeUndefined();
  });

  it('reads empty variables as absent, as compose files leave them', () => {
    expect(loadConfig({ PORT: '', DATABASE_URL: '', TOLLGATE_ADMIN_KEY: '', EGRESS_ALLOW: '' })).toEqual(
      loadConfig({}),
    );
  });

  it('reads spaces as absent and not as zero', () => {
    expect(loadConfig({ PORT: ' ', SECRET_CACHE_MS: '\t', REDIS_URL: '  ' })).toEqual(loadConfig({}));
  });

  it('accepts hosts with an underscore, as compose files name them', () => {
    const addresses = {
      DATABASE_URL: 'postgres://u:p@my_db:5432/x',
      REDIS_URL: 'redis://redis_cache:6379',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://otel_collector:4318',
    };
    expect(loadConfig({ ...addresses, TOLLGATE_ENCRYPTION_KEY: KEY })).toMatchObject(addresses);
  });

  it('ignores variables that it does not know', () => {
    expect(loadConfig({ PATH: '/bin', HOME: '/root' })).not.toHaveProperty('PATH');
  });
});

describe('.env.example', () => {
  const example = parseEnv(readFileSync(new URL('../../.env.example', import.meta.url), 'utf8'));

  it('lists every setting that has a default, with that default', () => {
    expect(loadConfig(example)).toEqual(loadConfig({}));
    expect(Object.keys(example)).toEqual(expect.arrayContaining(Object.keys(loadConfig({}))));
  });

  it.each(Object.keys(example))('lists no setting that the gateway ignores: %s', (name) => {
    expect(isRead(name)).toBe(true);
  });
});

describe('reading', () => {
  it.each([
    ['PORT', '0', 0],
    ['PORT', '65535', 65_535],
    ['DATABASE_POOL_SIZE', '1', 1],
    ['LOG_LEVEL', 'silent', 'silent'],
    [
      'CORS_ORIGINS',
      'https://app.example.com, http://localhost:3000,app://obsidian.md',
      ['https://app.example.com', 'http://localhost:3000', 'app://obsidian.md'],
    ],
    ['EGRESS_ALLOW', ' 10.0.0.0/8, models.internal:8080 ,', ['10.0.0.0/8', 'models.internal:8080']],
    ['TOLLGATE_ENCRYPTION_KEYS_PREVIOUS', `${KEY},${'0f'.repeat(32)}`, [KEY, '0f'.repeat(32)]],
    [
      'AWS_SERVICE_ROLE_ORGANISATIONS',
      `${ORGANISATION},${ORGANISATION.toUpperCase()}`,
      [ORGANISATION, ORGANISATION.toUpperCase()],
    ],
    ['MAX_JSON_BODY_BYTES', '1024', 1_024],
    ['JSON_BODY_TIMEOUT_MS', '1000', 1_000],
    ['BODY_SILENCE_MS', '1000', 1_000],
    ['AZURE_CLIENT_ID', 'fad7d5b3-0000-4000-8000-0000000000a4', 'fad7d5b3-0000-4000-8000-0000000000a4'],
  ])('reads %s=%s', (name, text, value) => {
    expect(loadConfig({ [name]: text })).toHaveProperty(name, value);
  });

  it.each([
    'postgres://localhost/tollgate',
    'postgresql://user:p%40ss@10.1.2.3:6432/tollgate?sslmode=require',
    'postgres://user:unused@localhost/postgres?host=%2Frun%2Fpostgresql',
    'postgres:///tollgate?host=%2Frun%2Fpostgresql',
    'postgres://user:with:colon@db.example/tollgate',
    'postgres://user:with,comma@db.example/tollgate',
    'postgresql://user:secret@/tollgate?host=/run/postgresql',
    'postgresql://user@%2Frun%2Fpostgresql/tollgate',
    'postgres://db.example/tollgate?options=-c%20search_path%3Dgateway',
  ])('accepts %s for a database', (url) => {
    expect(loadConfig({ ...SHARED, DATABASE_URL: url }).DATABASE_URL).toBe(url);
  });

  it.each([KEY, KEY.replace('=', ''), Buffer.alloc(32, 251).toString('base64url'), 'aF'.repeat(32)])(
    'accepts %s for an encryption key',
    (key) => {
      expect(loadConfig({ TOLLGATE_ENCRYPTION_KEY: key }).TOLLGATE_ENCRYPTION_KEY).toBe(key);
    },
  );

  it('accepts production with a shared database and its key', () => {
    expect(loadConfig({ ...SHARED, NODE_ENV: 'production' }).NODE_ENV).toBe('production');
  });

  it('listens on all interfaces in production, and elsewhere on this machine, unless HOST says otherwise', () => {
    expect(loadConfig({ ...SHARED, NODE_ENV: 'production' }).listenHost).toBe('0.0.0.0');
    expect(loadConfig({ NODE_ENV: 'test' }).listenHost).toBe('127.0.0.1');
    expect(loadConfig({ HOST: '::' }).listenHost).toBe('::');
    expect(loadConfig({ ...SHARED, NODE_ENV: 'production', HOST: '10.0.0.1' }).listenHost).toBe('10.0.0.1');
  });

  it('accepts a complete OpenID Connect provider', () => expect(loadConfig(OIDC)).toMatchObject(OIDC));
});

describe('refusing', () => {
  it.each([
    ['NODE_ENV', 'staging'],
    ['PORT', 'http'],
    ['PORT', '-1'],
    ['PORT', '65536'],
    ['PORT', '80.5'],
    ['PORT', '0x50'],
    ['PORT', '8e3'],
    ['MAX_CONNECTIONS', '0'],
    ['MAX_CONNECTIONS_PER_ADDRESS', '1e6'],
    ['LOG_LEVEL', 'loud'],
    ['DATABASE_URL', 'mysql://db.example/tollgate'],
    ['DATABASE_URL', 'db.example'],
    ['DATABASE_POOL_SIZE', '0'],
    ['DATABASE_POOL_SIZE', '201'],
    ['TOLLGATE_ADMIN_KEY', 'letmein'],
    ['TOLLGATE_ADMIN_KEY', 'tg_00000000_tooshort'],
    ['TOLLGATE_ENCRYPTION_KEY', 'aF'.repeat(31)],
    ['TOLLGATE_ENCRYPTION_KEY', `${KEY}=`],
    ['TOLLGATE_ENCRYPTION_KEYS_PREVIOUS', `${KEY},short`],
    ['SECRET_IDENTITY_ALLOW', 'my-organisation aws_sm prod/*'],
    ['SECRET_IDENTITY_ALLOW', '* aws_sm'],
    ['MAX_JSON_BODY_BYTES', '1023'],
    ['MAX_JSON_BODY_BYTES', '4MiB'],
    ['JSON_BODY_TIMEOUT_MS', '999'],
    ['JSON_BODY_TIMEOUT_MS', '3600001'],
    ['BODY_SILENCE_MS', '999'],
    ['BODY_SILENCE_MS', '3600001'],
    ['PROVIDER_TIMEOUT_MS', '99'],
    ['PROVIDER_TIMEOUT_MS', '30s'],
    ['PROVIDER_STREAM_IDLE_MS', '999'],
    ['PROVIDER_STREAM_IDLE_MS', '10m'],
    ['INFERENCE_STREAM_IDLE_MS', '999'],
    ['INFERENCE_STREAM_TIMEOUT_MS', '999'],
    ['INFERENCE_STREAM_TIMEOUT_MS', '86400001'],
    ['STREAM_KEEP_ALIVE_MS', '15s'],
    ['STREAM_KEEP_ALIVE_MS', '-1'],
    ['SHUTDOWN_INFERENCE_GRACE_MS', '3600001'],
    ['PROVIDER_MAX_RESPONSE_BYTES', '1e12'],
    ['PROVIDER_CONNECTIONS_PER_ORIGIN', '0'],
    ['SHUTDOWN_GRACE_MS', '-1'],
    ['SHUTDOWN_DELAY_MS', '5s'],
    ['AWS_SERVICE_ROLE_ORGANISATIONS', 'default'],
    ['AWS_SERVICE_ROLE_ORGANISATIONS', `${ORGANISATION}, *`],
    ['GOOGLE_IDENTITY_ORGANISATIONS', '*'],
    ['GOOGLE_SUBJECT_TOKEN_FILES', 'token'],
    ['GOOGLE_API_HOSTS', 'https://googleapis.com'],
    ['GCE_METADATA_HOST', 'http://metadata.google.internal'],
    ['ADMIN_OIDC_ISSUER', 'login.example.com'],
    ['ADMIN_OIDC_JWKS_URI', 'file:///etc/passwd'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
    ['PUBLIC_URL', 'gateway.example.com'],
    ['PUBLIC_URL', 'https://user:pass@gateway.example.com'],
    ['PUBLIC_URL', 'https://gateway.example.com/?a=b'],
  ])('names %s when it is %j, and nothing else', (name, value) => {
    const complaint = complaintAbout({ ...SHARED, ...OIDC, [name]: value });
    expect([...namedIn(complaint)]).toEqual([name]);
    expect(complaint).not.toContain(value);
  });

  it.each([
    ['DATABASE_URL', 'postgres:db.example', 'must be a URL that begins with postgres:// or postgresql://'],
    ['DATABASE_URL', 'postgres://user:with#sign@db.example/tollgate', 'must be encoded'],
    ['DATABASE_URL', 'postgres://user#sign@db.example/tollgate', 'must be encoded'],
    ['DATABASE_URL', 'postgres://user:100%@db.example/tollgate', 'must be encoded'],
    ['DATABASE_URL', 'postgres://user:100%ff@db.example/tollgate', 'must be encoded'],
    ['DATABASE_URL', 'postgres://user:with space@db.example/tollgate', 'must be encoded'],
    ['DATABASE_URL', 'postgres://user:secret@db-1:5432,db-2:5432/tollgate', 'must name one host'],
    ['DATABASE_URL', 'postgres://db-1,db-2/tollgate?target_session_attrs=primary', 'must name one host'],
    ['DATABASE_URL', 'postgres://db.example/tollgate?schema=gateway', 'must not have "schema"'],
    ['AZURE_AUTHORITY_HOST', 'http://login.example.com', 'must be a URL that begins with https://'],
    [
      'MCP_OAUTH_AUTHORIZATION_SERVERS',
      'https://login.example.com, ftp://login.example.com',
      'must be a URL that begins with http:// or https://',
    ],
  ])('says what is wrong with %s when it is %j', (name, value, problem) => {
    const complaint = complaintAbout({ ...SHARED, [name]: value });
    expect(complaint).toMatch(new RegExp(`${name} .*${problem}`));
    expect([...namedIn(complaint)]).toEqual([name]);
    expect(complaint).not.toContain(value);
  });

  it('names every wrong setting at once', () => {
    const wrong = {
      PORT: 'http',
      LOG_LEVEL: 'loud',
      REDIS_URL: 'nowhere',
      NODE_ENV: 'production',
      EGRESS_ALLOW: 'http://x',
    };
    const named = ['PORT', 'LOG_LEVEL', 'REDIS_URL', 'DATABASE_URL', 'EGRESS_ALLOW'];
    expect(namedIn(complaintAbout(wrong))).toEqual(new Set(named));
  });

  it('refuses production without a shared database, since the embedded one does not survive a power loss', () => {
    expect([...namedIn(complaintAbout({ NODE_ENV: 'production' }))]).toEqual(['DATABASE_URL']);
  });

  it('requires the encryption key with a shared database: a generated one would differ on each replica', () => {
    const complaint = complaintAbout({ DATABASE_URL: SHARED.DATABASE_URL });
    expect([...namedIn(complaint)]).toEqual(['TOLLGATE_ENCRYPTION_KEY']);
  });

  it.each([
    ['AWS_SECRET_ACCESS_KEY', { AWS_ACCESS_KEY_ID: 'AKIA' }],
    ['AWS_ACCESS_KEY_ID', { AWS_SECRET_ACCESS_KEY: 'letmein' }],
    ['AWS_ACCESS_KEY_ID', { AWS_SESSION_TOKEN: 'letmein' }],
    ['AWS_SECRET_ACCESS_KEY', { AWS_ACCESS_KEY_ID: 'AKIA', AWS_SESSION_TOKEN: 'letmein' }],
  ])('names %s, without which an AWS identity is half of one: %j', (name, settings) => {
    expect(() => loadConfig(settings)).toThrow(name);
    expect(() => loadConfig(settings)).not.toThrow('letmein');
    const whole = { AWS_ACCESS_KEY_ID: 'AKIA', AWS_SECRET_ACCESS_KEY: 'letmein', ...settings };
    expect(loadConfig(whole)).toMatchObject(whole);
  });

  it.each(['ADMIN_OIDC_ISSUER', 'ADMIN_OIDC_AUDIENCE', 'ADMIN_OIDC_JWKS_URI'] as const)(
    'names the whole OpenID Connect provider when %s is missing, or is alone',
    (name) => {
      const missing = complaintAbout({ ...OIDC, [name]: undefined });
      const alone = complaintAbout({ [name]: OIDC[name] });
      for (const setting of Object.keys(OIDC)) {
        expect(missing).toContain(setting);
        expect(alone).toContain(setting);
      }
    },
  );

  it('never shows the value of a setting, since any may be a secret', () => {
    const secrets = {
      NODE_ENV: 'value-1',
      PORT: 'value-2',
      LOG_LEVEL: 'value-3',
      DATABASE_URL: 'value-4://user:value-5@host',
      REDIS_URL: 'value-6',
      TOLLGATE_ADMIN_KEY: 'value-7',
      TOLLGATE_ENCRYPTION_KEY: 'value-8',
      TOLLGATE_ENCRYPTION_KEYS_PREVIOUS: 'value-9,value-10',
      ADMIN_OIDC_ISSUER: 'value-11',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'value-12',
    };
    expect(complaintAbout(secrets)).not.toMatch(/value-\d/);
  });
});
