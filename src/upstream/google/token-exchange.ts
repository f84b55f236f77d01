// Requests for Google's access tokens. Sources, read 2026-11-28:
// https://developers.google.com/identity/protocols/oauth2/service-account,
// https://cloud.google.com/iam/docs/reference/sts/rest/v1/TopLevel/token,
// https://cloud.google.com/iam/docs/reference/credentials/rest/v1/projects.serviceAccounts/generateAccessToken
import { SignJWT } from 'jose';
import type { UpstreamRequest } from '../upstream.types.js';
import type { ExternalAccount, ServiceAccount } from './google-credentials.js';
import {
  askForToken,
  type GoogleToken,
  readImpersonatedToken,
  readOauthToken,
  type SendTokenRequest,
} from './token-answer.js';

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
const ASSERTION_SECONDS = 3_600;
const JWT_GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const EXCHANGE_GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';

/** Exchanges an assertion, signed with the service account's key, for a token of the account. */
export async function tokenForKey(account: ServiceAccount, send: SendTokenRequest, now: Date): Promise<GoogleToken> {
  const { tokenUrl, keyId, email, key } = account;
  const seconds = Math.floor(now.getTime() / 1_000);
  const assertion = await new SignJWT({ scope: SCOPE })
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...(keyId !== undefined && { kid: keyId }) })
    .setIssuer(email)
    .setAudience(tokenUrl.href)
    .setIssuedAt(seconds)
    .setExpirationTime(seconds + ASSERTION_SECONDS)
    .sign(key);
  const request = form(tokenUrl, { grant_type: JWT_GRANT, assertion });
  return readOauthToken(await askForToken(send, request, [assertion]), tokenUrl.host, now.getTime());
}

/** Exchanges a subject token for a token of the identity pool, or of the service account that it impersonates. */
export async function tokenForSubject(
  account: ExternalAccount,
  subjectToken: string,
  send: SendTokenRequest,
  now: Date,
): Promise<GoogleToken> {
  const { tokenUrl, client, impersonation, userProject } = account;
  const fields = {
    grant_type: EXCHANGE_GRANT,
    audience: account.audience,
    scope: SCOPE,
    requested_token_type: ACCESS_TOKEN,
    subject_token: subjectToken,
    subject_token_type: account.subjectTokenType,
    ...(client === undefined && userProject !== undefined && { options: JSON.stringify({ userProject }) }),
  };
  const request = form(tokenUrl, fields, client === undefined ? {} : basic(client));
  const secrets = [subjectToken, ...(client === undefined ? [] : [client.secret])];
  const federated = readOauthToken(await askForToken(send, request, secrets), tokenUrl.host, now.getTime());
  return impersonation === undefined ? federated : impersonated(impersonation, federated, send);
}

async function impersonated(
  { url, lifetimeSeconds }: NonNullable<ExternalAccount['impersonation']>,
  { value: token }: GoogleToken,
  send: SendTokenRequest,
): Promise<GoogleToken> {
  const body = Buffer.from(JSON.stringify({ scope: [SCOPE], lifetime: `${lifetimeSeconds}s` }));
  const headers = { 'content-type': 'application/json', accept: 'application/json', authorization: `Bearer ${token}` };
  return readImpersonatedToken(await askForToken(send, { method: 'POST', url, headers, body }, [token]), url.host);
}

function form(
  url: URL,
  fields: Readonly<Record<string, string>>,
  more: Readonly<Record<string, string>> = {},
): UpstreamRequest {
  const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json', ...more };
  return { method: 'POST', url, headers, body: Buffer.from(new URLSearchParams(fields).toString()) };
}

function basic({ id, secret }: NonNullable<ExternalAccount['client']>): { readonly authorization: string } {
  return { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` };
}
