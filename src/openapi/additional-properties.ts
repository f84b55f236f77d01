import type { OpenAPIObject } from '@nestjs/swagger';

/** Suffix of the classes of request bodies, and of objects in them. */
const INPUT = /Dto$/;

/** Sets `additionalProperties: false` on every schema of input, since the gateway refuses unknown fields. */
export function forbidAdditionalProperties(
  document: OpenAPIObject,
  optionClasses: readonly { readonly name: string }[],
): void {
  const options = new Set(optionClasses.map(({ name }) => name));
  for (const [name, schema] of Object.entries(document.components?.schemas ?? {})) {
    const isInput = INPUT.test(name) || options.has(name);
    if (isInput && !('$ref' in schema)) schema.additionalProperties = false;
  }
}
