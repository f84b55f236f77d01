// Hosts of Entra ID. Source: the cloud discovery metadata of @azure/msal-common 16.13 (src/authority/AuthorityMetadata.ts).

/** Names of the same authority, one list for each cloud that has more than one. */
const ALIASES: readonly (readonly string[])[] = [
  [
    'https://login.microsoftonline.com',
    'https://login.windows.net',
    'https://login.microsoft.com',
    'https://sts.windows.net',
  ],
  ['https://login.partner.microsoftonline.cn', 'https://login.chinacloudapi.cn'],
  ['https://login.microsoftonline.us', 'https://login.usgovcloudapi.net'],
];

/** Where credentials for an authority may go: itself, and its other names, which its discovery document may use. */
export function authorityOrigins(authorityHost: string): readonly string[] {
  const { origin } = new URL(authorityHost);
  return ALIASES.find((names) => names.includes(origin)) ?? [origin];
}
