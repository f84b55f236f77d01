import { describe, expect, it } from '@jest/globals';
import { UnexpectedShapeError } from '../json/read.js';
import { cursorWalk, type TokenPage } from './cursor-walk.js';

/** Pages of the given items, named by their index. */
const fetcher =
  (pages: readonly (readonly number[])[]) =>
  (token: string | undefined): Promise<TokenPage<number>> => {
    const index = Number(token ?? 0);
    const nextToken = index + 1 < pages.length ? String(index + 1) : undefined;
    return Promise.resolve({ items: pages[index] ?? [], nextToken });
  };
const walk = (pages: readonly (readonly number[])[], limit: number, after?: number) =>
  cursorWalk({
    fetchPage: fetcher(pages),
    isCursor: after === undefined ? undefined : (item) => item === after,
    limit,
    maxPages: 4,
  });

describe('cursorWalk', () => {
  it.each([
    ['begins at the first item', [[1, 2], [3]], 2, undefined, [1, 2], true],
    ['ends without a next page', [[1, 2], [3]], 3, undefined, [1, 2, 3], false],
    [
      'continues after an item',
      [
        [1, 2],
        [3, 4],
      ],
      1,
      2,
      [3],
      true,
    ],
    ['passes an item at the end of the last page', [[1, 2]], 5, 2, [], false],
    ['passes empty pages', [[], [1], [], [2]], 2, 1, [2], false],
  ])('the cursor walk %s', async (_name, pages, limit, after, items, hasMore) => {
    expect(await walk(pages, limit, after)).toEqual({ items, hasMore });
  });

  it.each([
    ['is not there', [[1], [2]]],
    ['is too far down', [[1], [2], [3], [4], [9]]],
  ])('refuses an item that %s', async (_name, pages) => {
    await expect(walk(pages, 1, 9)).rejects.toEqual(
      expect.objectContaining({ code: 'validation_failed', param: 'after' }),
    );
  });

  it('stops after a number of empty pages', async () => {
    await expect(walk([[], [], [], [], [1]], 1)).rejects.toThrow(UnexpectedShapeError);
  });
});
