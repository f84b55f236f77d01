import { readFileSync } from 'node:fs';
import Sequencer from '@jest/test-sequencer';

const ORDER = ['start', 'process', 'app', 'once', 'unit'];

/**
 * Those that take longest begin first, so that no worker waits at the end for the last long file of the other. Files that fake
 * timers come last: each ends its process, and the next file has to load every module again. Files that collect
 * garbage come first, or last of all: each collection takes the longer, the more modules are loaded.
 */
export default class SlowestFirst extends Sequencer {
  sort(tests) {
    const rank = ({ context, path }) => {
      const text = readFileSync(path, 'utf8');
      const project = ORDER.indexOf(context.config.displayName.name);
      const collects = /\/(collect-garbage|watched)\.js'/.test(text) ? 0.5 : 0;
      return text.includes('useFakeTimers') ? project + ORDER.length + collects : project - collects;
    };
    const ranks = new Map(tests.map((test) => [test, rank(test)]));
    return super.sort(tests).toSorted((one, other) => ranks.get(one) - ranks.get(other));
  }
}
