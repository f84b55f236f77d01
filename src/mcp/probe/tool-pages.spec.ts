import { describe, expect, it } from '@jest/globals';
import { gatherTools, type ToolList, type ToolPage } from './tool-pages.js';

/** The gathered list when the server returns these pages, and the requested cursors. */
async function gathered(
  pages: readonly ToolPage[],
): Promise<{ readonly list: ToolList; readonly asked: readonly (string | undefined)[] }> {
  const asked: (string | undefined)[] = [];
  const list = await gatherTools((cursor) => {
    asked.push(cursor);
    const page = pages[asked.length - 1];
    return page === undefined ? Promise.reject(new Error('one page too many')) : Promise.resolve(page);
  });
  return { list, asked };
}

const page = (names: readonly string[], nextCursor?: string): ToolPage => ({
  tools: names.map((name) => ({ name })),
  nextCursor,
});

describe('gatherTools', () => {
  it('reads all pages', async () => {
    const { list, asked } = await gathered([page(['a', 'b'], '1'), page(['c'])]);
    expect(list).toEqual({ tools: [{ name: 'a' }, { name: 'b' }, { name: 'c' }], isWhole: true });
    expect(asked).toEqual([undefined, '1']);
  });

  it('accepts an empty cursor', async () => {
    expect((await gathered([page(['a'], ''), page(['b'])])).asked).toEqual([undefined, '']);
  });

  it('returns a tool once, with its last description', async () => {
    const described = { tools: [{ name: 'a', description: 'anew' }], nextCursor: undefined };
    expect((await gathered([page(['a'], '1'), described])).list.tools).toEqual([{ name: 'a', description: 'anew' }]);
  });

  it('leaves out tools that cannot be stored', async () => {
    const names = ['', 'a\u0000', 'half\ud800', 'x'.repeat(256), 'x'.repeat(255)];
    expect((await gathered([page(names)])).list).toEqual({ tools: [{ name: 'x'.repeat(255) }], isWhole: true });
  });

  it.each([[['1', '1']], [['1', '2', '1']]])('stops when the pages repeat: %j', async (cursors) => {
    const { list, asked } = await gathered(cursors.map((cursor, at) => page([`tool-${at}`], cursor)));
    expect([list.tools.length, list.isWhole]).toEqual([cursors.length, false]);
    expect(asked).toHaveLength(cursors.length);
  });

  it('reads at most 50 pages', async () => {
    const { list } = await gathered(Array.from({ length: 50 }, (_none, at) => page(['a'], `${at}`)));
    expect(list).toEqual({ tools: [{ name: 'a' }], isWhole: false });
  });

  it('stops after 1,000 tools', async () => {
    const many = Array.from({ length: 1_000 }, (_none, at) => `tool-${at}`);
    const { list, asked } = await gathered([page(many, 'more')]);
    expect([list.tools.length, list.isWhole, asked.length]).toEqual([1_000, false, 1]);
    expect((await gathered([page(many)])).list.isWhole).toBe(true);
  });
});
