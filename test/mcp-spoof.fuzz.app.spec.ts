// A server receives exactly the gateway's identity value, or none: over names, cases, separators, duplicates,
// names that `Connection` lists, configured header names, forwarding rules and both transports, on raw sockets against the
// whole gateway.
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { SignJWT } from 'jose';
import { type Loopback, startHttp } from '../src/upstream/__fixtures__/loopback.js';
import { GatewayClient } from './support/gateway-client.js';
import { events, json, type RawMcpServer, type RawRequest, startRawMcpServer } from './support/mcp-raw-server.js';
import { startTestApp, type TestApp } from './support/test-app.js';

/** Printed with the path to the case when a property fails. */
const SEED = 20_261_121;
const RUNS = 8;
const EVIL = 'evil';
const ISSUER = 'https://idp.example.com/';
const BODY = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}';
const STATIC = 'Bearer static-0123456789';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PEM = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

interface Forwarding {
  readonly name: string;
  readonly fields: object;
  /** Folded name of the header that carries the gateway's identity, and whether callers with only a key have one. */
  readonly header: string | undefined;
  readonly ofKeys: boolean;
}

const forwarding = (method: string, header: string, header_name?: string): Forwarding => ({
  name: `${method} as ${header}`,
  fields: {
    user_identity_forwarding: {
      method,
      ...(header_name === undefined ? {} : { header_name }),
      ...(method === 'bearer' ? { allow_anonymous: true } : {}),
    },
  },
  header,
  ofKeys: method !== 'bearer',
});
const FORWARDINGS: readonly Forwarding[] = [
  { name: 'none', fields: {}, header: undefined, ofKeys: false },
  { name: 'static', fields: { headers: { Authorization: STATIC } }, header: 'authorization', ofKeys: true },
  forwarding('claims_header', 'x-user-claims'),
  forwarding('claims_header', 'x-who', 'X-Who'),
  forwarding('jwt_header', 'x-user-jwt'),
  forwarding('jwt_header', 'x-acme-id', 'X_Acme.Id'),
  forwarding('bearer', 'authorization'),
  forwarding('bearer', 'x-user-token', 'X-User-Token'),
];
const RULES = [null, { mode: 'all-except', headers: [] }, { mode: 'allowlist', headers: ['x-tenant'] }] as const;

/** One server, as one caller addresses it. */
interface Subject {
  readonly title: string;
  readonly mark: string;
  readonly path: string;
  readonly legacy: boolean;
  readonly credentials: readonly string[];
  readonly header: string | undefined;
  readonly hasIdentity: boolean;
  readonly passesTenant: boolean;
  /** The values that the server receives from an honest client. */
  honest: readonly string[];
  messages: string;
}

let gateway: TestApp;
let raw: RawMcpServer;
let provider: Loopback;
let key: string;
let token: string;
let subjects: readonly Subject[];

beforeAll(async () => {
  provider = await startHttp(json({ keys: [{ ...publicKey.export({ format: 'jwk' }), alg: 'RS256', use: 'sig' }] }));
  [gateway, raw] = await Promise.all([startTestApp({ JWT_PRIVATE_KEY: PEM }), startRawMcpServer()]);
  const stream = (path: string): string =>
    `event: endpoint\ndata: ${path.replace('/sse', '/messages')}?sessionId=1\n\n`;
  raw.answerWith((request, response) => {
    const { url = '' } = request;
    const answer = url.startsWith('/sse/') ? events([stream(url)]) : json({ jsonrpc: '2.0', id: 1, result: {} });
    answer(request, response);
  });
  const admin = new GatewayClient(gateway.url);
  const user = { user_id: 'alice', email: 'alice@example.com' };
  ({ key } = await admin.createKey({ scopes: ['mcp.invoke'], type: 'user', user }));
  token = await new SignJWT({ email: 'alice@example.com' })
    .setProtectedHeader({ alg: 'RS256' })
    .setSubject('alice')
    .setIssuer(ISSUER)
    .setExpirationTime(Math.floor(gateway.clock.now().getTime() / 1_000) + 3_600)
    .sign(privateKey);
  subjects = await registerAll(admin);
});

afterAll(async () => {
  await gateway.close();
  await Promise.all([raw.close(), provider.close()]);
});

async function registerAll(admin: GatewayClient): Promise<readonly Subject[]> {
  const all: Subject[] = [];
  for (const legacy of [false, true]) {
    for (const way of FORWARDINGS) {
      for (const rule of RULES) {
        const slug = `s-${randomUUID()}`;
        const isBearer = way.name.startsWith('bearer');
        await admin.create('/v1/mcp-servers', {
          name: slug,
          slug,
          url: raw.url(`/${legacy ? 'sse' : 'mcp'}/${slug}`).href,
          transport: legacy ? 'sse' : 'streamable_http',
          ...way.fields,
          ...(isBearer ? { jwt_validation: { jwksUri: provider.url('/jwks').href, issuer: ISSUER } } : {}),
          ...(rule === null ? {} : { forward_headers: rule }),
        });
        const callers = isBearer ? [false, true] : [false];
        for (const hasToken of callers) {
          all.push({
            title: `${way.name}, ${JSON.stringify(rule)}, ${legacy ? 'HTTP+SSE' : 'streamable HTTP'}, token: ${hasToken}`,
            mark: slug,
            path: `/${slug}/${legacy ? 'sse' : 'mcp'}`,
            legacy,
            credentials: [`X-Gateway-Api-Key: ${key}`, ...(hasToken ? [`Authorization: Bearer ${token}`] : [])],
            header: way.header,
            hasIdentity: way.ofKeys || hasToken,
            passesTenant: rule !== null,
            honest: [],
            messages: '',
          });
        }
      }
    }
  }
  for (const subject of all) {
    raw.forget();
    const answer = await exchange(subject, subject.legacy ? 'GET' : 'POST', subject.path, []);
    subject.messages = /data: (\S+)/.exec(answer)?.[1] ?? '';
    subject.honest = subject.header === undefined ? [] : seenBy(subject, subject.header);
  }
  return all;
}

/** Writes one request and reads until the gateway closes the connection. */
function exchange({ credentials }: Subject, method: string, path: string, lines: readonly string[]): Promise<string> {
  const { host, hostname, port } = new URL(gateway.url);
  const body = method === 'POST' ? BODY : '';
  const head = [
    `${method} ${path} HTTP/1.1`,
    `Host: ${host}`,
    ...credentials,
    'Accept: application/json, text/event-stream',
    'X-Tenant: acme',
    ...(body === '' ? [] : ['Content-Type: application/json', `Content-Length: ${body.length}`]),
    ...lines,
    'Connection: close',
  ];
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(Number(port), hostname, () => socket.write(`${head.join('\r\n')}\r\n\r\n${body}`));
    socket.on('data', (chunk) => (text += chunk.toString('latin1')));
    socket.on('error', () => undefined).on('close', () => resolve(text));
  });
}

function fold(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '-');
}

function headersOf({ rawHeaders }: RawRequest): readonly (readonly [string, string])[] {
  return rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [[name, rawHeaders[at + 1] ?? ''] as const] : []));
}

/** Values of a header that reached the subject's server, in every spelling that some servers treat as equal. */
function seenBy({ mark }: Subject, folded: string): readonly string[] {
  return raw.received
    .filter(({ path }) => path.includes(mark))
    .flatMap((request) => headersOf(request).filter(([name]) => fold(name) === folded))
    .map(([, value]) => value);
}

const separator = fc.constantFrom('-', '-', '_', '.');
const NAMES = ['X-User-Claims', 'X-User-JWT', 'X-Who', 'X-Acme-Id', 'X-User-Token', 'X-Api-Key', 'Proxy-Authorization'];
/** Of other proxies: protected-names.spec.ts has all that are known. */
const FOREIGN = [
  'X-Userinfo',
  'X-Consumer-Username',
  'X-Istio-Jwt',
  'SSL-Client-S-DN',
  'OIDC-Claim-Sub',
  'X-Vouch-User',
];
/** Any case, and any of the separators that gateways forget. */
const spelled = fc
  .tuple(fc.constantFrom(...NAMES, ...NAMES, ...FOREIGN), fc.infiniteStream(fc.boolean()), fc.infiniteStream(separator))
  .map(([name, upper, separators]) =>
    Array.from(name, (character) => {
      if (character === '-') return separators.next().value;
      return upper.next().value === true ? character.toUpperCase() : character.toLowerCase();
    }).join(''),
  );
const anyName = fc.oneof(
  { weight: 40, arbitrary: spelled },
  {
    weight: 1,
    arbitrary: fc.constantFrom('Authorization', 'AUTHORIZATION', 'X-Forwarded-User', 'Remote-User', 'Cookie'),
  },
);
const colon = fc.constantFrom(': ', ':', ':\t', ':  ');
const evilLine = fc
  .tuple(anyName, colon, fc.constantFrom(EVIL, `{"sub":"${EVIL}"}`, `Bearer ${EVIL}`, `${EVIL}, ${EVIL}`))
  .map((parts) => parts.join(''));
const duplicated = fc
  .tuple(evilLine, fc.integer({ min: 1, max: 3 }))
  .map(([line, times]) => Array<string>(times).fill(line));
const listed = fc.array(spelled, { minLength: 1, maxLength: 4 }).map((names) => [`Connection: ${names.join(', ')}`]);
const attack = fc
  .array(fc.oneof({ weight: 5, arbitrary: duplicated }, { weight: 1, arbitrary: listed }), {
    minLength: 3,
    maxLength: 12,
  })
  .map((groups) => groups.flat());

const PROTECTED = [
  'x-user-claims',
  'x-user-jwt',
  'x-api-key',
  'proxy-authorization',
  'authorization',
  'cookie',
  'remote-user',
  ...FOREIGN.map(fold),
];

function judge(subject: Subject, answer: string): number {
  const requests = raw.received.filter(({ path }) => path.includes(subject.mark));
  // A refused request never reaches the server.
  const isRefused = answer.startsWith('HTTP/1.1 4');
  expect([subject.title, answer.slice(0, 12), requests.length]).toEqual([
    subject.title,
    expect.stringMatching(/^HTTP\/1\.1 [24]/),
    isRefused ? 0 : 1,
  ]);
  if (isRefused) return 0;
  const { header } = subject;
  if (header !== undefined) expect([subject.title, seenBy(subject, header)]).toEqual([subject.title, subject.honest]);
  for (const name of PROTECTED) if (name !== header) expect([name, seenBy(subject, name)]).toEqual([name, []]);
  const text = requests.flatMap(({ rawHeaders }) => rawHeaders).join('\n');
  expect(text).not.toContain(key);
  if (!subject.hasIdentity) expect(text).not.toContain(token);
  return 1;
}

describe('the identity at a server against hostile clients', () => {
  it("forwards the gateway's identity and the allowed headers of an honest client", async () => {
    for (const subject of subjects) {
      expect([subject.title, subject.honest.length]).toEqual([subject.title, subject.hasIdentity ? 1 : 0]);
      raw.forget();
      await exchange(subject, 'GET', subject.path, []);
      expect([subject.title, seenBy(subject, 'x-tenant')]).toEqual([
        subject.title,
        subject.passesTenant ? ['acme'] : [],
      ]);
      if (subject.legacy) expect(subject.messages).toMatch(/\/messages\?sessionId=/);
    }
    const bearers = subjects.filter(
      ({ title }) => title.startsWith('bearer as authorization') && title.endsWith('true'),
    );
    expect(bearers.map(({ honest }) => honest)).toEqual(bearers.map(() => [`Bearer ${token}`]));
  });

  it.each([
    ['POST', false],
    ['GET', false],
    ['DELETE', false],
    ['GET', true],
    ['POST', true],
  ])("forwards only the gateway's identity or none: %s, older transport: %s", async (method, legacy) => {
    const concerned = subjects.filter((subject) => subject.legacy === legacy);
    let sent = 0;
    let reached = 0;
    await fc.assert(
      fc.asyncProperty(attack, async (lines) => {
        for (const hasToken of [false, true]) {
          raw.forget();
          // The same server receives requests of one caller at a time.
          const asked = concerned.filter(({ title }) => title.endsWith(String(hasToken)));
          const answers = await Promise.all(
            asked.map((subject) => {
              const path = method === 'POST' && legacy ? subject.messages : subject.path;
              return exchange(subject, method, path, lines);
            }),
          );
          sent += asked.length;
          for (const [index, subject] of asked.entries()) reached += judge(subject, answers[index] ?? '');
        }
      }),
      { seed: SEED, numRuns: RUNS },
    );
    // An attack that is refused proves little.
    expect(reached).toBeGreaterThan(sent / 2);
  });
});
