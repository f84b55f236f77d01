import { describe, expect, it } from '@jest/globals';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { toList, toSkipTake } from './list.js';
import { PageQuery } from './page.query.js';

/** Query strings arrive as text. */
function read(query: Readonly<Record<string, unknown>>): PageQuery {
  return plainToInstance(PageQuery, query);
}

function wrongFieldsOf(query: Readonly<Record<string, unknown>>): readonly string[] {
  return validateSync(read(query)).map((error) => error.property);
}

describe('PageQuery', () => {
  it('defaults to page 0 with 20 items', () => expect(toSkipTake(read({}))).toEqual({ skip: 0, take: 20 }));

  it('reads page numbers from text', () => {
    expect(wrongFieldsOf({ current_page: '3', page_size: '100' })).toEqual([]);
    expect(toSkipTake(read({ current_page: '3', page_size: '100' }))).toEqual({ skip: 300, take: 100 });
  });

  it.each([
    ['current_page', '-1'],
    ['current_page', '1.5'],
    ['current_page', 'first'],
    ['current_page', '1000001'],
    ['page_size', '0'],
    ['page_size', '101'],
    ['page_size', ''],
    ['page_size', 'NaN'],
    ['page_size', 'Infinity'],
    ['page_size', ['1', '2']],
    ['organisation_id', 'default'],
  ])('refuses the query %s=%j', (name, value) => expect(wrongFieldsOf({ [name]: value })).toEqual([name]));
});

describe('toList', () => {
  it('counts the items of all pages, not of this page', () => {
    expect(toList([[1, 2], 40], (row) => `row ${row}`)).toEqual({
      object: 'list',
      data: ['row 1', 'row 2'],
      total: 40,
    });
  });
});
