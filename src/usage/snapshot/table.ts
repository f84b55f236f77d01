/**
 * Reads the cells of a table that is separated by commas and line breaks. No cell contains either.
 * @throws Error when the first line differs from `names`, or a line has another number of cells
 */
export function parseTable(names: readonly string[], text: string): readonly (readonly string[])[] {
  const [head, ...lines] = text.trimEnd().split('\n');
  if (head !== names.join(',')) throw new Error(`a table of the snapshot begins with ${head}`);
  return lines.map((line) => {
    const cells = line.split(',');
    if (cells.length !== names.length) throw new Error(`a row of the snapshot has ${cells.length} cells: ${line}`);
    return cells;
  });
}

/** @throws Error when a text has a comma, a quote or a line break */
export function formatTable(names: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const lines = [names, ...rows].map((cells) => {
    for (const cell of cells) if (/[,"\n\r]/.test(String(cell))) throw new Error(`no cell can hold ${cell}`);
    return cells.join(',');
  });
  return `${lines.join('\n')}\n`;
}

/** Caches the values of texts, so that repeated texts are read once. */
export function remembering<Value>(read: (text: string) => Value): (text: string) => Value {
  const known = new Map<string, Value>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const value = read(text);
    known.set(text, value);
    return value;
  };
}

/** @throws Error for any other value */
export function oneOf<Value extends string>(values: readonly Value[], text: string): Value {
  for (const value of values) if (value === text) return value;
  throw new Error(`a row of the snapshot has an unknown value: ${text}`);
}

/** @throws Error for other texts than a whole number of at most 12 digits */
export function wholeNumber(text: string): number {
  if (!/^\d{1,12}$/.test(text)) throw new Error(`a row of the snapshot has no whole number: ${text}`);
  return Number(text);
}
