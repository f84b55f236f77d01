import type { OpenAPIObject } from '@nestjs/swagger';

/** How classes of bodies, and of objects in them, are named. */
const INPUT = /Dto$/;

/** Unknown fields are refused, and so no schema of what callers send takes one. */
export function closeInputs(document: OpenAPIObject, optionClasses: readonly { readonly name: string }[]): void {
  const options = new Set(optionClasses.map(({ name }) => name));
  for (const [name, schema] of Object.entries(document.components?.schemas ?? {})) {
    const isInput = INPUT.test(name) || options.has(name);
    if (isInput && !('$ref' in schema)) schema.additionalProperties = false;
  }
}
