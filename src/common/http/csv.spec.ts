import { describe, expect, it } from '@jest/globals';
import { toCsv } from './csv.js';

describe('a table of comma-separated values', () => {
  it('has the names of all fields in the first line, and a line for each row', () => {
    expect(
      toCsv([
        { id: 'a', cost: 0.5, at: null },
        { id: 'b', more: true },
      ]),
    ).toBe('id,cost,at,more\r\na,0.5,,\r\nb,,,true\r\n');
  });

  it('has a column for each key of a group, and JSON for other objects and lists', () => {
    expect(toCsv([{ group: { model: 'x', provider: null }, scopes: ['a', 'b'], metadata: { k: 'v' } }])).toBe(
      'group.model,group.provider,scopes,metadata\r\nx,,"[""a"",""b""]","{""k"":""v""}"\r\n',
    );
  });

  it.each([
    ['=1+1', `'=1+1`],
    ['+1', `'+1`],
    ['-1', `'-1`],
    ['@SUM(A1)', `'@SUM(A1)`],
    ['\t=1', `'\t=1`],
    ['=cmd|"/c calc"', `"'=cmd|""/c calc"""`],
    ['a=1', 'a=1'],
    ['two\nlines', '"two\nlines"'],
    ['a,b', '"a,b"'],
  ])('writes the text %j as %j, so that no spreadsheet runs it', (text, cell) => {
    expect(toCsv([{ text }])).toBe(`text\r\n${cell}\r\n`);
  });

  it('keeps a negative number a number', () => {
    expect(toCsv([{ change: -1.5 }])).toBe('change\r\n-1.5\r\n');
  });

  it('writes no lines of nothing', () => {
    expect(toCsv([])).toBe('\r\n');
  });
});
