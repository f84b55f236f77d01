// What a signed identity costs: from the cache, freshly signed, and beside a bare crypto.sign over the same bytes, in one run.
//   node bench/jwt-signing.mjs [--check]
// --check ends with code 1 when a hit takes more than 10 µs, a miss more than 1 ms or more than twice the bare signature.
import { generateKeyPairSync, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { buildIfStale } from '../scripts/build.mjs';

await buildIfStale();
const { IdentityTokenCache } = await import('../dist/src/identity/jwt/identity-token.cache.js');
const { IdentityForwarding } = await import('../dist/src/identity/forwarding/identity-forwarding.js');
const { JwtHeaderForwarder } = await import('../dist/src/identity/forwarding/jwt-header.forwarder.js');
const { SigningKeys } = await import('../dist/src/identity/jwt/signing-keys.js');

const ROUNDS = 21;
const HITS = 5_000;
const SIGNATURES = 50;
const LIMITS = { hit: 10, miss: 1_000, ratio: 2 };

const pem = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' });
const keys = new SigningKeys({ JWT_PRIVATE_KEY: pem });
const forwarding = new IdentityForwarding([new JwtHeaderForwarder(keys, new IdentityTokenCache())]);
const config = { method: 'jwt_header' };
const now = new Date();
const signOnThreadPool = promisify(sign);

let users = 0;
const callerOf = (sub) => ({
  claims: {
    sub,
    email: 'jose@example.com',
    username: 'jose',
    user_id: '6b8f0c9e-2a63-4a31-9d5a-7d3e1b2c4f50',
    workspace_id: '0d8b2f0e-8c1d-4a55-9a55-2c2f7a1c9e11',
    organisation_id: '7f0e6c1a-53b5-4b47-8d0c-6a9d6b1f2e33',
    scope: 'mcp:read mcp:write',
    client_id: 'assistant',
  },
});
const known = callerOf('known');
const { value: token } = await forwarding.headerFor(known, config, now);
const input = Buffer.from(token.slice(0, token.lastIndexOf('.')));

const subjects = {
  hit: { times: HITS, work: () => forwarding.headerFor(known, config, now) },
  miss: { times: SIGNATURES, work: () => forwarding.headerFor(callerOf(`u-${(users += 1)}`), config, now) },
  bare: { times: SIGNATURES, work: () => signOnThreadPool('sha256', input, keys.current.privateKey) },
};

async function microsecondsOf({ times, work }) {
  const start = process.hrtime.bigint();
  for (let each = 0; each < times; each += 1) await work();
  return Number(process.hrtime.bigint() - start) / 1_000 / times;
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const rounds = [];
await microsecondsOf(subjects.hit);
for (let round = 0; round < ROUNDS; round += 1) {
  const result = {};
  for (const [name, subject] of Object.entries(subjects)) result[name] = await microsecondsOf(subject);
  rounds.push(result);
}

const hit = median(rounds.map((round) => round.hit));
const miss = median(rounds.map((round) => round.miss));
const bare = median(rounds.map((round) => round.bare));
const ratio = median(rounds.map((round) => round.miss / round.bare));
console.log(`token ${token.length} bytes, medians of ${ROUNDS} interleaved rounds`);
console.log(`cache hit    ${hit.toFixed(1)} µs (limit ${LIMITS.hit})`);
console.log(`cache miss   ${miss.toFixed(0)} µs (limit ${LIMITS.miss})`);
console.log(`crypto.sign  ${bare.toFixed(0)} µs, a miss is ${ratio.toFixed(2)} × that (limit ${LIMITS.ratio})`);
const isOver = hit > LIMITS.hit || miss > LIMITS.miss || ratio > LIMITS.ratio;
if (process.argv.includes('--check') && isOver) process.exitCode = 1;
