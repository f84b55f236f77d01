/** A route as Express knows it. */
export interface OfferedRoute {
  readonly method: string;
  readonly path: string;
}

/** Names of an API that may stand before its version. */
const API_NAME = /^\/(?:openai|anthropic)(?=\/)/i;
const VERSIONED = /^\/v\d+(?:(?:alpha|beta)\d*)?\//i;
/** What clients of models ask for, and the gateway has nothing of: addresses of OpenAI, Bedrock and Ollama. */
const UNKNOWN_RESOURCES: ReadonlySet<string> = new Set([
  '/v1/audio',
  '/v1/images',
  '/v1/moderations',
  '/v1/realtime',
  '/v1/model',
  '/v1/api',
]);

/** Elsewhere, other rules say what is not there: MCP servers have addresses of their own. */
export function isOfApi(path: string, routes: readonly OfferedRoute[]): boolean {
  return versionedPath(path, routes) !== undefined;
}

/**
 * What the gateway offers instead, for an address of the API that it does not have: the operations on the same resource, or all
 * resources. undefined for any other address.
 */
export function offeredInstead(path: string, routes: readonly OfferedRoute[]): string | undefined {
  const versioned = versionedPath(path, routes);
  if (versioned === undefined) return undefined;
  const asked = resourceOf(versioned);
  const offered = routes.filter((route) => VERSIONED.test(route.path));
  const near = offered.filter((route) => resourceOf(route.path) === asked);
  if (near.length > 0) return `On ${asked} it offers: ${near.map(nameOf).join(', ')}.`;
  return `It has these resources: ${[...new Set(offered.map((route) => resourceOf(route.path)))].sort().join(', ')}.`;
}

/** The address as the gateway writes it; undefined where it is none of the API. Some clients leave the version out, or name the API. */
function versionedPath(path: string, routes: readonly OfferedRoute[]): string | undefined {
  const own = path.replace(API_NAME, '');
  if (VERSIONED.test(own)) return own;
  const versioned = `/v1${own}`;
  const resource = resourceOf(versioned);
  const isKnown = UNKNOWN_RESOURCES.has(resource) || routes.some((route) => resourceOf(route.path) === resource);
  return isKnown ? versioned : undefined;
}

/** `/v1/batches/:batch_id/cancel` → `/v1/batches`. Express ignores case. */
function resourceOf(path: string): string {
  return path.toLowerCase().split('/').slice(0, 3).join('/');
}

function nameOf({ method, path }: OfferedRoute): string {
  return `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`;
}
