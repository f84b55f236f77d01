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
  Cf-Access-Token CF-IPCountry CF-Ray CF-Visitor Cf-Warp-Tag-Id CDN-RequestCountryCode X-Goog-User-Project
  X-Google-Apps-Metadata X-Google-Internal-Skipadmincheck X-Appengine-Cron X-Google-IP X-Client-Cert-Spiffe
  X-Goog-Iam-Authority-Selector X-Goog-Spatula X-Amzn-Lattice-Identity X-Amzn-Lattice-Network X-Amzn-Source-Vpc
  X-Amzn-Vpce-Id X-Amzn-Vpc-Id X-Amzn-Waf-Label X-Amzn-Ava-User-Context X-Amzn-Tls-Cipher-Suite X-Amzn-Apigateway-Api-Id
  X-Amzn-Bedrock-Agentcore-Runtime-Custom-Role X-Amzn-Marketplace X-MS-Proxy X-MS-Adfs-Proxy-Client-IP
  X-MS-Forwarded-Client-IP X-MS-Client-Display-Name X-WAWS-Unencoded-URL X-AppService-Proto X-Site-Deployment-Id
  X-AppGW-Trace-Id X-Azure-Ref X-FD-HealthProbe MS-AspNetCore-Token MS-AspNetCore-User MS-AspNetCore-WinAuthToken
  MS-ASPNETCORE-EVENT X-MS-Containerapp-Name Dapr-App-Id X-Teleport-Login GAP-Signature X-Introspection X-Kong-Proxy
  X-Tyk-Nonce X-Kuma-Tags OSM-Stats-Namespace X-Appmesh-Node X-Replaced-Path X-Traefik-Router X-Authelia-URL
  X-Netlify-Original-Pathname X-NF-Site-Info X-BB-Ip X-Matched-Path X-Invoke-Path X-Invoke-Status X-Now-Route-Matches
  X-Nextjs-Data X-Heroku-Dynos Rndr-Id X-Sucuri-ClientIP X-EC-UUID Ali-CDN-Real-IP X-Imperva-Id X-HAProxy-Frontend
  X-Ingress-Path X-Hass-Source X-Hassio-Key X-F5-User X-F5-Client X-F5-Auth X-APM-Session NS-Client-IP X-Citrix-Gateway
  X-Citrix-Via X-NetScaler-Vserver X-Netskope-Activity X-PAN-AuthToken X-BlueCoat-Via X-Zscaler-Dept X-Zapp
  X-OpenAM-Username X-OpenIDM-Username X-OpenAM-Realm X-ForgeRock-TransactionId X-Oracle-Tenant Opc-Principal X-IBM-Tenant
  X-APIC-Consumer MYSAPSSO2 X-SAP-Client SAP-Client X-Approuter-Authorization Unscoped-Affiliation Primary-Affiliation
  EduPersonAffiliation EduPersonUniqueId IsMemberOf SchacHomeOrganization Orcid SN CN Mail DisplayName Display-Name
  X-Display-Name X-Full-Name X-First-Name X-Last-Name X-Surname X-Nick-Name X-Preferred-Name X-Common-Name
  X-Parse-Application-Id X-Parse-Master-Key X-Parse-Installation-Id X-Appwrite-Mode X-Appwrite-Project X-Supabase-Client
  X-Firebase-Uid X-Hasura-Org K-Proxy-Request K-Original-Host Kubeflow-UserId X-Remote-Uid Impersonate-Extra-Scopes
  Es-Security-Runas-User SecurityTenant X-Proxy-Roles Kbn-System-Request X-Grafana-Device-Id
  X-Prometheus-Remote-Write-Version X-WSO2-Tenant X-3scale-Debug X-Anypnt-App X-Krakend-Completed X-Zuul-Route
  Eg-Consumer-Id X-APISIX-Plugin X-Mse-Consumer X-Higress-Llm X-Axway-Id X-Litellm-End-User-Id X-Litellm-Team X-BF-VK
  X-Tfy-Metadata Helicone-Property-App X-Ai-Eg-Model X-Portkey-Trace X-Agentgateway-Sub Grpc-Metadata-Role
  Grpc-Metadata-Tenant Proxy Sf-Context-Current-Role Sf-Context-Account Gitlab-Workhorse Gitlab-Workhorse-Api-Request
  Posit-Connect-User-Session-Token RStudio-Connect-Credentials X-JupyterHub-Singleuser X-Zitadel-OrgId X-Ory-Session
  X-Kratos-Id X-Clerk-Status Frontegg-Tenant-Id X-WorkOS-Org X-Casdoor-Org X-EAA-Id X-Duo-Id X-Appgate-Entitlement
  X-Banyan-Device X-Forti-Group X-Luminate-Tenant X-Twingate-Group X-StrongDM-Id X-Ldap-URL X-Ldap-BaseDN X-Ldap-BindPass
  X-Realm X-Trust-Level X-Peer-Id X-Workload-Name X-Service-Account X-Issuer X-Iss X-Aud X-Amr X-Acr X-Azp X-Jti
  X-Initiator X-Originator X-Invoker X-Sender X-Mfa X-2FA X-TOTP X-Device-Id X-Device-Trust X-Device-Posture X-Subscription
  X-Subscription-Id X-Partner-Id X-Merchant-Id X-Agent-Id X-Bot-Id X-Operator X-Staff X-Profile-Id
  X-Operator-Id X-Forward-For Forward-For X-Forward-User X-Script-Name Script-Name Front-End-Https X-Scheme X-Url-Scheme
  X-Path-Info X-Base-Url X-External-Url X-Envoy-Original-Path X-Real-Port X-Remote-Port X-Client-Port X-Forwarded-Port
  X-Coming-From X-From X-Sourced-By X-Requested-By X-Calling-Service X-Source-Service X-Caller-Service X-Impersonate
  X-Assume-Role X-Assumed-User X-Effective-User X-Real-User X-Original-User X-Switch-User X-Delegated-User X-Delegation
  X-Obo X-Windows-Account X-Ad-Groups X-Department X-Clearance X-Security-Level X-Access-Level X-Approved X-Superuser
  X-Bypass X-Trusted-Proxy X-Anonymous X-Guest X-Consumer X-Tenant-Role X-Ticket X-Cas-Ticket X-Wsse WSSE X-Nonce X-Captcha
  G-Recaptcha-Response CF-Turnstile-Response X-Recaptcha-Token H-Captcha-Response X-Api-Signature X-Api-Sign X-Sign X-Sig
  X-Ca-Nonce X-Bot-Score X-Ja3 X-Ja3-Fingerprint X-Ja4 Cloudfront-Viewer-Ja3-Fingerprint X-Webhook-Secret Stripe-Signature
  X-Shopify-Hmac-Sha256 X-Twilio-Signature Twilio-Email-Event-Webhook X-Line-Signature X-Goog-Channel-Id
  X-Goog-Channel-Token X-Proxied-Https X-Amzn-Lattice-Target X-Webauth-Tailnet X-Webauth-Photo X-Tailscale-Tailnet
  X-Authentik-Meta-App X-Script-Prefix X-HTTPS X-MSISDN MSISDN X-Nokia-MSISDN X-IMSI X-Up-Calling-Line-Id X-WX-OpenId
  X-WX-UnionId X-WX-From-OpenId X-TT-OpenId X-OpenId DoAs X-Telegram-Init-Data X-Stytch-Session X-Acme-Session iPlanetDirectoryPro
  Jenkins-Crumb X-Honeycomb-Team X-JFrog-Art-Api X-Transmission-Session-Id
`
  .trim()
  .split(/\s+/);
const FORWARDED = `
  User-Agent Accept-Language X-Request-Id X-Correlation-Id Traceparent Tracestate Baggage X-B3-TraceId X-Cloud-Trace-Context
  X-Amzn-Trace-Id X-Tenant X-Tenant-Id X-Org-Id X-Region X-Client-Version X-Client-Name X-App-Version X-Debug X-Feature-Flags
  Idempotency-Key X-User-Locale X-User-Timezone X-Stainless-Lang X-Langfuse-Session-Id If-None-Match Priority Referer DNT
  X-Requested-With Prefer Cache-Control Via CDN-Loop Content-Digest Repr-Digest Sec-Fetch-Site Sec-CH-UA X-Team X-Company
  X-Project-Id X-Workspace-Id X-Client-Region X-App-Name X-Agent-Name X-Device-Type X-Display-Mode X-Service-Name X-Source
  X-Search-Radius X-Ticket-Id X-Render-Mode X-External-Id X-Base-Currency X-Timestamp X-Ms-Client-Request-Id X-Gitlab-Event
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
