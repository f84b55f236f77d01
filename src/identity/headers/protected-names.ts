/**
 * Families of headers that a client cannot set for a server, whatever the forwarding rule. A server that stood behind another
 * proxy may still trust that proxy's headers, and products invent new names, so these are patterns. The guide has the same
 * table (docs/guides/mcp.md); a test compares both.
 */
export interface ProtectedFamily {
  /** First column of the table in the guide. */
  readonly what: string;
  /** Matches a folded name. */
  readonly pattern: RegExp;
}

export const PROTECTED_FAMILIES: readonly ProtectedFamily[] = [
  {
    what: 'Credentials',
    pattern: anyOf(
      /auth|token|jwt|jws|jwe|oidc|saml|sso-|(^|-)sso$|sso2$|kerberos|spnego|ntlm|ldap|dpop|bearer|cookie|credential|secret/,
      /passw|passphrase|signature|hmac|wsse|assertion|attest|app-?check|captcha|turnstile|csrf|xsrf/,
      /(^|-)(otp|totp|mfa|2fa|nonce|sig|sign)($|-)|keys?(-?id)?$|^(x-)?((session|sid|j?session-?id)|(cas-)?ticket)$/,
      /(^|-)(crumb|session)$|^iplanetdirectorypro$|^x-(honeycomb-team|jfrog-art-api|telegram-init-data|transmission-session-id)$/,
    ),
  },
  {
    what: 'People and programs',
    pattern: anyOf(
      /user|principal|identity|impersonat|consumer|e-?mail|claim|entitle|permission|privilege|anonymous|whoami|affiliation/,
      /^from$|^sn$|^(x-)?(name|uid|eppn|nickname|orcid|sender)$|^eduperson|^schac|ismemberof|on-behalf-of|^(x-)?(act|run)-as$/,
      /(given|family|first|last|full|display|nick|common|preferred|sur)-?name/,
      /(^|-)(remote|mail|login|logon|account|customer|subscriber|subscription|member|memberof|subject|sub|upn|idp|realm)($|-)/,
      /(^|-)(actor|caller|group|groups|role|roles|scope|scopes|person|department|division|guest|staff|workload)($|-)/,
      /(^|-)(iss|issuer|aud|amr|acr|azp|jti|obo|delegation|initiator|originator|invoker|clearance)($|-)/,
      /(^|-)(sudo|admin|employee|netid|passport|requester|owner|viewer|delegate|operator|gid|phone)(id)?($|-)/,
      /(client|app|application|persistent|targeted|party|partner|merchant|agent|bot|device|profile)-?id$/,
      /(^|-)device-(trust|posture|compliance)|(access|security|trust)-level$|^x-ca-/,
      // Mobile networks name the subscriber, and hosts of mini programs the user.
      /msisdn|(^|-)(imsi|openid|unionid)$|calling-line-id$|^doas$/,
    ),
  },
  {
    what: 'Client certificates',
    pattern: /cert|mtls|spiffe|svid|x509|fingerprint|(^|-)(ssl|tls|pki|[si]?-?dn|cn)($|-)|client-verify/,
  },
  {
    what: 'Where a request came from',
    pattern: anyOf(
      /forward|(^|-)(client|real|remote|connecting|socket|source|peer|originating)?-?(ip|ips|ipv4|ipv6|addr|address)$/,
      /(^|-)(client|real|source|peer)-port$|(^|-)peer($|-)|^origin$|^x-host$|^x-(coming-)?from$|^x-(requested|sourced)-by$/,
      /(^|-)(trusted|verified|verify|validated|internal|approved|permitted|bypass|allowlisted|whitelisted)($|-)/,
      /(^|-)(calling|source|requesting)-(service|app|application)/,
    ),
  },
  {
    what: 'Another address or method',
    pattern: anyOf(
      /^x-(original|rewrite|replaced|middleware|invoke|matched|nextjs|now|proxied|ingress)-|method-override$|^x-http-method$/,
      /^(x-)?script-(name|prefix)$|^(x-)?(url-)?scheme$|^x-https?$|^front-end-https$|^x-path-info$|^x-(base|external)-(url|uri)$/,
      // CGI programs read it as HTTP_PROXY, the address of their own proxy (CVE-2016-5385).
      /^proxy$/,
    ),
  },
  {
    what: 'Content delivery and hosting',
    pattern: anyOf(
      /^(x-)?(akamai|ali-cdn|cf|cloudfront|fastly|fly|heroku|imperva|incap|netlify|nf|ngrok|railway|sucuri|vercel)-/,
      /^(x-)?(bb|cdn(?!-loop$)|do-connecting|ec|rndr|true-client)-|(^|-)ja[34]($|-)|(^|-)bot-score$/,
      /^x-(azure|appgw|appservice|arr|fd|waws|site-deployment)-|^x-ms-(proxy|client|containerapp|edge)(?!-request-id$)/,
      /^x-(appengine|cloudtasks|cloudscheduler|goog|google|amz)-|^x-amzn-(?!trace-id$)|^k-(proxy|original|network)-/,
    ),
  },
  {
    what: 'API gateways',
    pattern: anyOf(
      /^(x-)?(agentgateway|ai-eg|apic|apigee|apigateway|apisix|anypnt|3scale|ambassador|axway|bf|eg|endpoint-api|gravitee)-/,
      /^(x-)?(gateway|hasura|helicone|higress|kong|krakend|litellm|mse|portkey|rapidapi|solo|tfy|tyk|wso2|zuul)-/,
      /^ocp-apim-|^x-grafana-|^x-introspection/,
    ),
  },
  {
    what: 'Service meshes',
    pattern: /^(x-)?(appmesh|consul|dapr|envoy|istio|kuma|l5d|linkerd|nomad|osm|teleport|traefik)-/,
  },
  {
    what: 'Access proxies and single sign-on',
    pattern: anyOf(
      /^(x-)?(ajp|apm|appgate|banyan|bluecoat|cas|casdoor|citrix|clerk|duo|eaa|f5|forgerock|forti[a-z]*|frontegg|gap)-/,
      /^(x-)?(haproxy|iap|ibm|iv|kratos|luminate|mellon|netscaler|netskope|oag|oam|okta|openam|openidm|oracle|ory|osso)-/,
      /^(x-)?(ping|pomerium|proxy|sap|shib|shibboleth|sm|strongdm|tailscale|twingate|vault|vouch|webauth|wl-proxy|workos)-/,
      /^(x-)?(zapp|zitadel|zscaler)(-|$)|^smuser$|^smsession$/,
    ),
  },
  {
    what: 'Application servers and platforms',
    pattern: anyOf(
      /^(x-)?(appwrite|firebase|gitlab-workhorse|grpc-metadata|hass|jupyterhub|kbn|ms-aspnetcore|sf-context|supabase)(-|$)/,
      /^x-parse-(application|client|installation|javascript|master|rest|session)-|^securitytenant$/,
    ),
  },
];

/** Names that a pattern matches and that say nothing about the caller. */
const HARMLESS: ReadonlySet<string> = new Set([
  'idempotency-key',
  'user-agent',
  'x-idempotency-key',
  'x-user-agent',
  'x-user-language',
  'x-user-locale',
  'x-user-timezone',
]);

export function isProtectedName(folded: string): boolean {
  return !HARMLESS.has(folded) && PROTECTED_FAMILIES.some(({ pattern }) => pattern.test(folded));
}

/** One pattern that matches where one of them does, so that a name is judged once. */
function anyOf(...patterns: readonly RegExp[]): RegExp {
  return new RegExp(patterns.map(({ source }) => source).join('|'));
}
