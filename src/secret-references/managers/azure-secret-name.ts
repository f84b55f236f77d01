// Names in Azure Key Vault. Source: https://learn.microsoft.com/azure/key-vault/general/about-keys-secrets-certificates

/** Which secret of a vault a `secret_path` names. */
export interface AzureSecretName {
  readonly name: string;
  /** undefined: the current one. */
  readonly version: string | undefined;
}

const NAME = /^[0-9a-zA-Z-]{1,127}$/;
const VERSION = /^[0-9a-f]{32}$/i;
const ID_PATH = /^\/secrets\/(.+)$/;

export function isAzureSecretVersion(text: string): boolean {
  return VERSION.test(text);
}

/** Reads `name`, `name/version` or a secret's whole id. undefined for anything else, and for an id of another vault. */
export function readAzureSecretPath(path: string, vaultOrigin: string): AzureSecretName | undefined {
  const [name = '', version, ...more] = (localPart(path, vaultOrigin) ?? '').split('/');
  if (!NAME.test(name) || more.length > 0) return undefined;
  return version === undefined || VERSION.test(version) ? { name, version } : undefined;
}

/** What is wrong with a vault's URL, to be read on from the field's name; undefined for a right one. */
export function azureVaultProblem(text: string, vaultHosts: readonly string[]): string | undefined {
  if (!URL.canParse(text)) return 'must be an absolute URL';
  const url = new URL(text);
  if (url.protocol !== 'https:') return 'must use https';
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password';
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '') return 'must have no path, query or fragment';
  if (vaultHosts.includes(url.hostname)) return undefined;
  if (!vaultHosts.some((end) => end.startsWith('.') && url.hostname.endsWith(end))) {
    return 'must name a vault: a host that AZURE_VAULT_HOSTS allows';
  }
  return url.port === '' ? undefined : 'must have no port unless AZURE_VAULT_HOSTS names the whole host';
}

function localPart(path: string, vaultOrigin: string): string | undefined {
  if (!path.includes(':')) return path;
  if (!URL.canParse(path)) return undefined;
  const id = new URL(path);
  if (id.origin !== vaultOrigin || id.username !== '' || id.search !== '' || id.hash !== '') return undefined;
  return ID_PATH.exec(id.pathname)?.[1];
}
