import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { foldHeaderName, isNeverForwarded } from './header-names.js';
import { outboundHeaders } from './outbound-headers.js';
import { PROTECTED_FAMILIES } from './protected-names.js';
import { toRawHeaders } from './raw-headers.js';

/** Headers by which products name the caller to a server, or by which clients log in. */
const NAMES = `
  Authorization Proxy-Authorization X-Authorization X-Original-Authorization X-Upstream-Authorization Authentication-Info
  X-Auth-Request-User X-Auth-Request-Email X-Auth-Request-Groups X-Auth-Request-Preferred-Username GAP-Auth
  X-Auth-User X-Auth-Username X-Auth-Userid X-Auth-Email X-Auth-Roles X-Auth-Subject X-Auth-Token X-AuthUser
  X-Authenticated-User X-Authenticated-Groups X-Authenticated-Userid X-Authenticated-Scope
  X-User X-User-Id X-UserId X-User-Email X-User-Name X-User-Roles X-User-Groups X-Username X-Userinfo X-UserInfo
  X-Email X-Mail X-Groups X-Group X-Roles X-Role X-Permissions X-Scopes X-Subject X-Sub X-Login X-Account-Id X-Customer-Id
  Remote-User Remote-Groups Remote-Name Remote-Email X-Remote-User X-Remote-Group X-Remote-Extra-Scopes Impersonate-User
  Impersonate-Group From X-Caller-Id X-Principal X-Identity X-Claims X-Claim-Sub
  X-Consumer-Id X-Consumer-Username X-Consumer-Custom-ID X-Consumer-Groups X-Credential-Identifier X-Anonymous-Consumer
  X-ID-Token X-Access-Token X-Refresh-Token X-JWT-Assertion X-Jwt-Payload X-Jwt-Claim-Sub JWT X-Istio-Jwt
  X-Endpoint-API-UserInfo X-Apigateway-Api-Userinfo X-Apigateway-Context X-Apigee-Developer X-Tyk-Authorization
  X-Gravitee-Api-Key X-Kong-Jwt-Claim-Sub X-Hasura-Role X-Hasura-User-Id X-Hasura-Admin-Secret X-RapidAPI-Proxy-Secret
  X-IBM-Client-Id X-IBM-Client-Secret Client-Id Client-Secret App-Id App-Key User-Key X-Ca-Key X-Ca-Stage
  X-Vouch-User X-Vouch-IdP-Claims-Email X-Pomerium-Claim-Email X-Pomerium-Jwt-Assertion X-Authentik-Username X-Authelia-User
  X-WEBAUTH-USER X-Grafana-Id X-Grafana-Org-Id X-Scope-OrgID OIDC-Claim-Sub OIDC_access_token MELLON_NAME_ID
  Shib-Identity-Provider EPPN CAS-User SM_USER SM_UNIVERSALID SMSESSION OAM_REMOTE_USER Osso-User-Dn IV-User IV-Groups IV-Creds
  Tailscale-User-Login Tailscale-App-Capabilities Teleport-Jwt-Assertion Ngrok-Auth-User-Email X-ZScaler-User
  Cf-Access-Jwt-Assertion Cf-Access-Authenticated-User-Email Cf-Access-Client-Id Cf-Access-Client-Secret CF-Connecting-IP
  Cf-Client-Cert-Der-Base64 CF-Worker CloudFront-Viewer-Address Fastly-FF Fastly-Client-IP X-Akamai-Edgescape True-Client-IP
  X-Vercel-OIDC-Token X-Vercel-Protection-Bypass X-NF-Client-Connection-IP Fly-Client-IP DO-Connecting-IP Incap-Client-IP
  X-Amzn-Oidc-Data X-Amzn-Oidc-Identity X-Amzn-Oidc-Accesstoken X-Amzn-Mtls-Clientcert X-Amz-Security-Token X-Amz-Date
  X-Amz-Cognito-Security-Token X-Amzn-Remapped-Authorization X-Goog-Api-Key X-Goog-Iap-Jwt-Assertion X-Goog-IAP-Attr-Group
  X-Goog-Authenticated-User-Email X-Serverless-Authorization X-Appengine-User-Email X-Appengine-Inbound-Appid
  X-CloudTasks-QueueName X-MS-Client-Principal X-MS-Client-Principal-Name X-MS-Token-AAD-Access-Token X-Azure-FDID
  X-Azure-ClientIP X-ARR-ClientCert Ocp-Apim-Subscription-Key X-Functions-Key X-ZUMO-AUTH X-Firebase-AppCheck
  X-Forwarded-User X-Forwarded-Email X-Forwarded-For X-Forwarded-Client-Cert X-Forwarded-Tls-Client-Cert Forwarded X-Real-IP
  X-Client-IP X-Cluster-Client-IP X-Remote-Addr X-Originating-IP WL-Proxy-Client-IP Proxy-Client-IP X-ProxyUser-Ip
  Client-Cert Client-Cert-Chain X-Client-Cert X-Client-Cert-Present X-SSL-Client-Cert X-SSL-Client-Verify SSL-Client-Cert
  SSL-Client-S-DN SSL_CLIENT_S_DN X-SSL-Issuer X-Client-Verify X-Client-DN X-TLS-Client-Subject X-Spiffe-Id
  X-Envoy-External-Address X-Envoy-Internal L5d-Client-Id L5d-Dst-Override Dapr-Api-Token Dapr-Caller-App-Id X-Consul-Token
  X-Vault-Token X-Vault-Namespace X-Nomad-Token Private-Token Job-Token Deploy-Token X-GitLab-Token X-Figma-Token X-Api-Token
  X-Api-Key Api-Key ApiKey X-ApiKey X-Access-Key X-Secret X-Password DPoP OAuth-Client-Attestation Sec-Token-Binding
  X-Signature X-Hub-Signature-256 Signature Signature-Input X-Slack-Signature X-CSRF-Token X-XSRF-Token Kbn-Xsrf
  Cookie Cookie2 Set-Cookie X-Session-Id X-Session-Token Session-Id X-Otp X-SAML-Assertion X-SSO-User
  X-Gateway-Api-Key X-Gateway-Virtual-Key X-Portkey-Api-Key Helicone-Auth X-Litellm-Api-Key Anthropic-Api-Key
  X-Original-URL X-Original-Host X-Rewrite-URL X-HTTP-Method-Override X-Middleware-Subrequest X-Internal-Request X-Host
  Host Origin X-User-Claims X-User-JWT X-Amzn-Request-Context X-Amzn-Lambda-Context X-On-Behalf-Of X-MS-On-Behalf-Of X-Act-As
  X-Run-As Sudo X-Sudo X-Admin X-Is-Admin X-Employee-Id X-NetId X-Passport X-Requester X-Owner X-Viewer-Id Persistent-Id
  Targeted-Id X-Given-Name X-Family-Name X-Phone X-Gid X-Party-Id
`
  .trim()
  .split(/\s+/);
const FORWARDED = `
  User-Agent Accept-Language X-Request-Id X-Correlation-Id Traceparent Tracestate Baggage X-B3-TraceId X-Cloud-Trace-Context
  X-Amzn-Trace-Id X-Tenant X-Tenant-Id X-Org-Id X-Region X-Client-Version X-Client-Name X-App-Version X-Debug X-Feature-Flags
  Idempotency-Key X-User-Locale X-User-Timezone X-Stainless-Lang X-Langfuse-Session-Id If-None-Match Priority Referer DNT
  X-Requested-With Prefer Cache-Control
`
  .trim()
  .split(/\s+/);
const RULES = (name: string) =>
  [
    { mode: 'all-except', headers: [] },
    { mode: 'allowlist', headers: [name] },
  ] as const;

function forwardedAs(name: string): readonly string[] {
  return RULES(name).flatMap((forwardHeaders) => [
    ...outboundHeaders({ client: toRawHeaders([name, 'evil']), forwardHeaders }).keys(),
  ]);
}

describe('headers that a client cannot set for a server', () => {
  it('forwards none of them under any rule and in any spelling', () => {
    const spellings = NAMES.flatMap((name) => [
      name,
      name.toUpperCase(),
      name.replaceAll('-', '_'),
      name.replaceAll(/[-_]/g, '.'),
    ]);
    expect(spellings.flatMap(forwardedAs)).toEqual([]);
    expect(NAMES.length).toBeGreaterThan(200);
  });

  it('forwards headers that say nothing about the caller', () => {
    expect(FORWARDED.filter((name) => forwardedAs(name).length !== 2)).toEqual([]);
  });

  it('forwards a parameter of a tool whatever its name', () => {
    expect(forwardedAs('Mcp-Param-User-Id')).toEqual(['mcp-param-user-id', 'mcp-param-user-id']);
  });
});

describe('the table of the guide', () => {
  const [, below = ''] = readFileSync('docs/guides/mcp.md', 'utf8').split('| never forwarded ');
  const rows = below.split('\n\n', 1).join('').split('\n').slice(2);
  const table = rows.map((row) => row.split('|').map((cell) => cell.trim()));

  it('has a row for each family', () => {
    expect(table.map(([, what]) => what)).toEqual(PROTECTED_FAMILIES.map(({ what }) => what));
  });

  it('shows examples that are never forwarded', () => {
    const examples = table.flatMap(([, , cell = '']) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
    expect(examples.filter((name) => !isNeverForwarded(foldHeaderName(name.replace('*', 'Any'))))).toEqual([]);
    expect(examples.length).toBeGreaterThan(50);
  });
});
