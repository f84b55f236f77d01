import { describe, expect, it } from '@jest/globals';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { RouteMetadataCache, type Route } from './execution-context.js';

class One {
  handle(): void {}
  other(): void {}
}
class Two {}

const oneHandle = route(One, 'handle');
const oneOther = route(One, 'other');
const twoHandle = route(Two, 'handle');

function route(controller: typeof One | typeof Two, handler: keyof One): Route {
  return new ExecutionContextHost([], controller, One.prototype[handler]);
}

describe('RouteMetadataCache', () => {
  it('reads the metadata of a route once', () => {
    let reads = 0;
    const declared = new RouteMetadataCache(() => ({ number: (reads += 1) }));
    expect([declared.of(oneHandle), declared.of(oneHandle)]).toEqual([{ number: 1 }, { number: 1 }]);
  });

  it('distinguishes routes, even if controllers share a handler', () => {
    const declared = new RouteMetadataCache((each) => ({ each }));
    const answers = [oneHandle, oneOther, twoHandle].map((each) => declared.of(each));
    expect(new Set(answers).size).toBe(3);
  });
});
