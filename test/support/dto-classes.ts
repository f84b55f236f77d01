import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { getMetadataStorage } from 'class-validator';

const SOURCES = fileURLToPath(new URL('../../src/', import.meta.url));
const DTO_FILE = /(?<!spec)\.(?:dto|query)\.ts$/;

export type Dto = new () => object;

/** Every class of a body or a query, and of the objects in them. */
export async function dtoClasses(): Promise<readonly Dto[]> {
  const classes: Dto[] = [];
  for (const path of readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })) {
    if (!DTO_FILE.test(path)) continue;
    // One after the other: jest loses modules that several imports wait for.
    const exports: object = await import(join(SOURCES, path));
    classes.push(...Object.values(exports).filter(isClass));
  }
  return classes;
}

function isClass(value: unknown): value is Dto {
  return typeof value === 'function' && fieldsOf(value).length > 0;
}

export function fieldsOf(target: Function): readonly string[] {
  const rules = getMetadataStorage().getTargetValidationMetadatas(target, '', false, false);
  return [...new Set(rules.map((rule) => rule.propertyName))];
}
