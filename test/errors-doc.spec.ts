import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { ERROR_CODES } from '../src/common/errors/error-codes.js';
import { renderErrorsDoc } from '../src/common/errors/render-errors-doc.js';
import { forEvery } from './support/for-every.js';

const FILE = new URL('../docs/errors.md', import.meta.url);
const CODES = Object.entries(ERROR_CODES).map((row) => [row[0], row] as const);
const REFRESH =
  'docs/errors.md is not what the table of errors says. Refresh it: UPDATE_DOCS=1 npm test -- test/errors-doc';

describe('docs/errors.md', () => {
  it('has the same codes, statuses and texts as the table of errors', () => {
    const wanted = renderErrorsDoc();
    if (process.env['UPDATE_DOCS'] === '1') writeFileSync(FILE, wanted);
    const written = existsSync(FILE) ? readFileSync(FILE, 'utf8') : '';
    if (written !== wanted) throw new Error(REFRESH);
  });

  it('has one row per error code', () => {
    const lines = renderErrorsDoc().split('\n');
    return forEvery(CODES, ([code, { type, source, when }]) => {
      const rows = lines.filter((line) => line.includes(`| \`${code}\` `));
      expect(rows).toHaveLength(1);
      for (const cell of [type, source, when]) expect(rows[0]).toContain(cell);
    });
  });
});

describe('the table of errors', () => {
  it('has a full message for callers and a cause for readers, for every error code', () =>
    forEvery(CODES, ([, entry]) => {
      expect(entry.message).toMatch(/^[A-Z].*\.$/);
      expect(entry.when).toMatch(/^[A-Z].*\.$/s);
      expect(entry.status).toBeGreaterThanOrEqual(400);
      expect(entry.status).toBeLessThan(600);
    }));

  it('names the provider as the source only of codes that begin with provider_', () => {
    const codes = Object.entries(ERROR_CODES).filter(([, entry]) => entry.source === 'provider');
    expect(codes.map(([code]) => code).filter((code) => !code.startsWith('provider_'))).toEqual([]);
  });
});
