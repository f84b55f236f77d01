import { isObject } from '../json/read.js';

/** Spreadsheets run a cell that begins like this as a formula. A quotation mark before it makes it text. */
const FORMULA = /^[=+\-@\t\r]/;
const NEEDS_QUOTES = /["\n\r,]/;
/** The maps whose keys the query names, so that all rows have the same ones. Each key is a column. */
const SPREAD = new Set(['group']);

/**
 * A table of comma-separated values (RFC 4180), with the names of the fields in the first line. A field that is itself an object or
 * a list stands in its cell as JSON.
 */
export function toCsv(rows: readonly object[]): string {
  const flat = rows.map(flattened);
  const columns = [...new Set(flat.flatMap((row) => [...row.keys()]))];
  const lines = flat.map((row) => columns.map((column) => cellOf(row.get(column))).join(','));
  return [columns.map(cellOf).join(','), ...lines].map((line) => `${line}\r\n`).join('');
}

function flattened(row: object): ReadonlyMap<string, unknown> {
  const entries = Object.entries(row).flatMap(([name, value]: [string, unknown]) =>
    SPREAD.has(name) && isObject(value)
      ? Object.entries(value).map(([key, each]) => [`${name}.${key}`, each] as const)
      : [[name, value] as const],
  );
  return new Map(entries);
}

function cellOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return quoted(FORMULA.test(value) ? `'${value}` : value);
  // Negative numbers begin like a formula, and are meant to be numbers.
  return quoted(JSON.stringify(value));
}

function quoted(text: string): string {
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
