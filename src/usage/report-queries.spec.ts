import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { TollgateDataSource } from '../database/tollgate-data-source.js';
import { ReportQueries } from './report-queries.js';

describe('ReportQueries', () => {
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  it.each([
    [1, 1],
    [3, 2],
    [4, 3],
    [20, 3],
  ])('leaves a connection of a pool of %d to calls, and runs %d reports at once', async (poolSize, reports) => {
    const settings = { DATABASE_URL: 'postgres://127.0.0.1:1/none', DATABASE_POOL_SIZE: poolSize, DATA_DIR: 'unused' };
    const dataSource = new TollgateDataSource(settings, []);
    const begun = jest.spyOn(dataSource, 'transaction').mockReturnValue(new Promise(() => undefined));
    const queries = new ReportQueries(dataSource);
    for (const organisation of ['a', 'b', 'c', 'd', 'e']) void queries.run(organisation, async () => undefined);
    await new Promise((resolve) => setImmediate(resolve));
    expect(begun).toHaveBeenCalledTimes(reports);
  });
});
