import { MAX_FIGURE } from '../usage/usage-work.js';

/** More than any call uses, in any of the figures. What is beyond is not believed. */
export const HIGHEST_COUNT = Number(MAX_FIGURE);

/** A whole number, rounded up; undefined where there is none, or one that cannot be true. */
export function believableCount(figure: number | undefined): number | undefined {
  if (figure === undefined || !(figure >= 0 && figure <= HIGHEST_COUNT)) return undefined;
  return Math.ceil(figure);
}
