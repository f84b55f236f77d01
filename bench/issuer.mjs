// An identity provider in the benchmark's own process: a key set, and one user's token.
import { createServer } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

const ISSUER = 'https://login.example.com';
const AUDIENCE = 'benchmark';

/** The token, and the `jwt_validation` of servers that trust it. */
export async function startIssuer() {
  const { privateKey, publicKey } = await generateKeyPair('RS256');
  const keys = [{ ...(await exportJWK(publicKey)), kid: '1', use: 'sig', alg: 'RS256' }];
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys }));
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  server.unref();
  const token = await new SignJWT({
    email: 'jose@example.com',
    preferred_username: 'jose',
    scope: 'mcp:read mcp:write',
  })
    .setProtectedHeader({ alg: 'RS256', kid: '1', typ: 'at+jwt' })
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setSubject('jose')
    .setExpirationTime('1h')
    .sign(privateKey);
  const jwksUri = `http://127.0.0.1:${server.address().port}/jwks`;
  return { token, validation: { jwksUri, requiredClaims: ['sub', 'exp'], issuer: ISSUER, audience: AUDIENCE } };
}
