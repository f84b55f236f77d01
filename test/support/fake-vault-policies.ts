export type Capability = 'create' | 'read' | 'update' | 'delete' | 'list' | 'deny';

/** Capabilities by path: `*` at the end matches anything, `+` matches one segment. */
export type PolicyRules = Readonly<Record<string, readonly Capability[]>>;

export const DEFAULT_POLICY: PolicyRules = {
  'auth/token/lookup-self': ['read'],
  'auth/token/renew-self': ['update'],
  'auth/token/revoke-self': ['update'],
};

/** Whether a token has the capability: the most specific rule decides, and `deny` in it takes precedence. */
export function isAllowed(policies: readonly PolicyRules[], path: string, capability: Capability): boolean {
  const fitting = policies
    .flatMap(Object.entries<readonly Capability[]>)
    .filter(([glob]) => patternOf(glob).test(path));
  const best = Math.max(...fitting.map(([glob]) => specificity(glob)));
  const granted = fitting.filter(([glob]) => specificity(glob) === best).flatMap(([, capabilities]) => capabilities);
  return !granted.includes('deny') && granted.includes(capability);
}

/** Whether a token has any right inside a mount, which allows it to look the mount up. */
export function seesMount(policies: readonly PolicyRules[], mount: string): boolean {
  return policies.some((rules) =>
    Object.entries(rules).some(([glob, capabilities]) => {
      const literal = glob.split(/[*+]/)[0] ?? '';
      const leadsThere = literal.startsWith(mount) || (literal !== glob && mount.startsWith(literal));
      return leadsThere && capabilities.length > 0 && !capabilities.includes('deny');
    }),
  );
}

function patternOf(glob: string): RegExp {
  const escaped = glob.replace(/[\\^$.?()[\]{}|]/g, '\\$&').replaceAll('+', '[^/]+');
  return new RegExp(`^${escaped.endsWith('*') ? `${escaped.slice(0, -1)}.*` : escaped}$`, 's');
}

/** Exact rules first, then the longest. */
function specificity(glob: string): number {
  return /[*+]/.test(glob) ? glob.length : Infinity;
}
