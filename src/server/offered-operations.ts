/** A route as Express knows it. */
export interface OfferedRoute {
  readonly method: string;
  readonly path: string;
}

/** Addresses of the API. Elsewhere, other rules say what is not there: MCP servers have addresses of their own. */
const API = /^\/v\d+\//i;

export function isOfApi(path: string): boolean {
  return API.test(path);
}

/**
 * What the gateway offers instead, for an address of the API that it does not have: the operations on the same resource, or all
 * resources. undefined for any other address.
 */
export function offeredInstead(path: string, routes: readonly OfferedRoute[]): string | undefined {
  if (!isOfApi(path)) return undefined;
  const asked = resourceOf(path);
  const offered = routes.filter((route) => isOfApi(route.path));
  const near = offered.filter((route) => resourceOf(route.path) === asked);
  if (near.length > 0) return `On ${asked} it offers: ${near.map(nameOf).join(', ')}.`;
  return `It has these resources: ${[...new Set(offered.map((route) => resourceOf(route.path)))].sort().join(', ')}.`;
}

/** `/v1/batches/:batch_id/cancel` → `/v1/batches`. Express ignores case. */
function resourceOf(path: string): string {
  return path.toLowerCase().split('/').slice(0, 3).join('/');
}

function nameOf({ method, path }: OfferedRoute): string {
  return `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`;
}
