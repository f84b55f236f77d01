/** Thrown when foreign JSON does not have the expected shape. Says what was expected and where, never the value. */
export class UnexpectedShapeError extends Error {
  constructor(expected: string, path: string) {
    super(`expected ${expected} at ${path}`);
    this.name = 'UnexpectedShapeError';
  }
}

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function readObject(value: unknown, path: string): JsonObject {
  if (!isObject(value)) throw new UnexpectedShapeError('an object', path);
  return value;
}

export function readArray(value: unknown, path: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new UnexpectedShapeError('an array', path);
  return value;
}

export function readString(value: unknown, path: string): string {
  if (typeof value !== 'string') throw new UnexpectedShapeError('a string', path);
  return value;
}

export function readNumber(value: unknown, path: string): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw new UnexpectedShapeError('a number', path);
  return value;
}

/** The string, or undefined when the field is absent, null or of another type: for fields that only inform. */
export function stringOrUndefined(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The number, or undefined when the field is absent, null or of another type: for fields that only inform. */
export function numberOrUndefined(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}
