/** Injection token of the process's UsageStore. */
export const USAGE_STORE = Symbol('USAGE_STORE');
