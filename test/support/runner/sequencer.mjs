import { readFileSync } from 'node:fs';
import Sequencer from '@jest/test-sequencer';

const ORDER = ['process', 'app', 'unit'];

/**
 * Those that take longest begin first, so that no worker waits at the end for the last long file of the other. Files that fake
 * timers come last: each ends its process, and the next file has to load every module again.
 */
export default class SlowestFirst extends Sequencer {
  sort(tests) {
    const rank = ({ context, path }) =>
      ORDER.indexOf(context.config.displayName.name) + (fakesTimers(path) ? ORDER.length : 0);
    const ranks = new Map(tests.map((test) => [test, rank(test)]));
    return super.sort(tests).toSorted((one, other) => ranks.get(one) - ranks.get(other));
  }
}

function fakesTimers(path) {
  return readFileSync(path, 'utf8').includes('useFakeTimers');
}
