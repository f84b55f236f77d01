import { Baseline1795900000000 } from './1795900000000-baseline.js';

/** In order of application. Classes, not file patterns: the same list works from source, build and tests. */
export const MIGRATIONS = [Baseline1795900000000] as const;
