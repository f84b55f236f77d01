import Sequencer from '@jest/test-sequencer';

const ORDER = ['process', 'app', 'unit'];

/** Those that take longest begin first, so that no worker waits at the end for the last long file of the other. */
export default class SlowestFirst extends Sequencer {
  sort(tests) {
    const rank = ({ context }) => ORDER.indexOf(context.config.displayName.name);
    return super.sort(tests).toSorted((one, other) => rank(one) - rank(other));
  }
}
