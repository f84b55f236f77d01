import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');

/** Frees all unreferenced objects immediately. */
export const collectGarbage: () => void = runInNewContext('gc');
