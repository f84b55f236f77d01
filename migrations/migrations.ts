import { Baseline1795219200000 } from './1795219200000-baseline.js';

/** In order of application. Classes, not file patterns: the same list works from source, build and tests. */
export const MIGRATIONS = [Baseline1795219200000] as const;
