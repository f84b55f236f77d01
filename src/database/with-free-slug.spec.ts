import { describe, expect, it } from '@jest/globals';
import { QueryFailedError } from 'typeorm';
import { withFreeSlug } from './rows.js';

function duplicate(constraint: string): QueryFailedError {
  return new QueryFailedError('INSERT …', [], Object.assign(new Error('duplicate'), { code: '23505', constraint }));
}

/** A table whose unique index refuses the slugs that it already has. */
function tableWith(...taken: readonly string[]) {
  const asked: string[] = [];
  const insert = async (slug: string): Promise<string> => {
    asked.push(slug);
    if (taken.includes(slug)) throw duplicate('uq_workspaces_slug');
    return slug;
  };
  return { asked, insert };
}

describe('a slug that is made from the name', () => {
  it('uses the slug of the name when it is free', async () => {
    expect(await withFreeSlug(undefined, 'Search team', tableWith().insert)).toBe('search-team');
  });

  it('adds a suffix to the slug of the name when it is taken', async () => {
    const slug = await withFreeSlug(undefined, 'Search team', tableWith('search-team').insert);
    expect(slug).toMatch(/^search-team-[0-9a-f]{6}$/);
  });

  it('gives up the slug of the name after five tries', async () => {
    const asked: string[] = [];
    const never = async (slug: string): Promise<string> => {
      asked.push(slug);
      throw duplicate('uq_workspaces_slug');
    };
    await expect(withFreeSlug(undefined, 'Search', never)).rejects.toMatchObject({ code: 'conflict', param: 'slug' });
    expect(new Set(asked).size).toBe(5);
  });
});

describe('a wanted slug', () => {
  it('uses a wanted slug when it is free', async () => {
    expect(await withFreeSlug('My_Slug', 'Search team', tableWith().insert)).toBe('My_Slug');
  });

  it('refuses a wanted slug that is taken, and never changes it', async () => {
    const { asked, insert } = tableWith('mine');
    await expect(withFreeSlug('mine', 'Search team', insert)).rejects.toMatchObject({
      code: 'conflict',
      param: 'slug',
    });
    expect(asked).toEqual(['mine']);
  });
});

it.each([duplicate('pk_workspaces'), new Error('another failure')])(
  'rethrows errors that are not about slugs: %p',
  async (error) => {
    const insert = (): Promise<never> => Promise.reject(error);
    await expect(withFreeSlug(undefined, 'Search', insert)).rejects.toBe(error);
  },
);
