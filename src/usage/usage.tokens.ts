/** Injection tokens of the interfaces `UsageStore` and `UsageObserver`. */
export const USAGE_STORE = Symbol('USAGE_STORE');
export const USAGE_OBSERVER = Symbol('USAGE_OBSERVER');
