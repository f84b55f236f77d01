/**
 * Families of headers that a client cannot set for a server, whatever the forwarding rule. A server that stood behind another
 * proxy may still trust that proxy's headers, and products invent new names, so these are patterns. The guide has the same
 * table (docs/guides/mcp.md); a test compares both.
 */
export interface ProtectedFamily {
  /** First column of the table in the guide. */
  readonly what: string;
  /** Of a folded name. */
  readonly pattern: RegExp;
}

export const PROTECTED_FAMILIES: readonly ProtectedFamily[] = [
  {
    what: 'Credentials',
    pattern:
      /auth|token|jwt|jws|jwe|oidc|saml|sso-|(^|-)sso$|kerberos|spnego|ntlm|dpop|bearer|cookie|credential|secret|passw|passphrase|signature|hmac|assertion|attest|app-?check|csrf|xsrf|(^|-)otp($|-)|keys?(-?id)?$|^(x-)?(session|sid|j?session-?id)$/,
  },
  {
    what: 'People and programs',
    pattern:
      /user|principal|identity|impersonat|consumer|userinfo|e-?mail|claim|entitle|permission|privilege|anonymous|whoami|^from$|^(x-)?(name|uid|eppn|nickname|displayname|affiliation)$|(^|-)(remote|mail|login|logon|account|customer|subscriber|member|memberof|subject|sub|upn|idp|actor|caller|group|groups|role|roles|scope|scopes|person)($|-)|(client|app|application|persistent|targeted|party)-?id$|^x-ca-|on-behalf-of|^(x-)?(act|run)-as$|(given|family)-?name|(^|-)(sudo|admin|employee|netid|passport|requester|owner|viewer|delegate|gid|phone)(id)?($|-)/,
  },
  {
    what: 'Client certificates',
    pattern: /cert|mtls|spiffe|svid|x509|fingerprint|(^|-)(ssl|tls|pki|[si]?-?dn|cn)($|-)|client-verify/,
  },
  {
    what: 'Where a request came from',
    pattern:
      /forwarded|(^|-)(client|real|remote|connecting|socket|source|peer|originating)?-?(ip|ips|ipv4|ipv6|addr|address)$|(^|-)(trusted|verified|verify|validated|internal)($|-)|^origin$|^x-host$/,
  },
  {
    what: 'Another address or method',
    pattern: /^x-(original|rewrite|middleware)-|method-override$|^x-http-method$/,
  },
  {
    what: 'Content delivery and hosting',
    pattern:
      /^(x-)?(akamai|cf|cloudfront|fastly|fly|incap|nf|ngrok|railway|vercel|do-connecting|true-client)-|^x-(azure|arr|fd|appengine|cloudtasks|cloudscheduler|amz|goog-iap)-|^x-amzn-(request|lambda)-context$/,
  },
  {
    what: 'API gateways',
    pattern:
      /^(x-)?(apigee|apigateway|anypnt|3scale|ambassador|endpoint-api|gravitee|gateway|hasura|kong|portkey|rapidapi|solo|tyk|wso2)-|^ocp-apim-|^x-grafana-/,
  },
  {
    what: 'Service meshes',
    pattern: /^(x-)?(consul|dapr|envoy|istio|l5d|linkerd|nomad|teleport)-/,
  },
  {
    what: 'Access proxies and single sign-on',
    pattern:
      /^(x-)?(ajp|cas|gap|iap|iv|mellon|oag|oam|okta|osso|ping|pomerium|proxy|shib|shibboleth|sm|tailscale|vault|vouch|webauth|wl-proxy|zscaler)-|^smuser$|^smsession$/,
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
