import type { OpenAPIObject } from '@nestjs/swagger';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;
type Parameter = NonNullable<Operation['parameters']>[number];

/** A parameter with a default may be left out. The generator calls it required, since its field always has a value. */
export function makeDefaultedParametersOptional(document: Pick<OpenAPIObject, 'paths'>): void {
  for (const parameter of parametersOf(document)) {
    if ('$ref' in parameter || parameter.schema === undefined || '$ref' in parameter.schema) continue;
    if (parameter.schema.default !== undefined) parameter.required = false;
  }
}

/** Of the paths and queries of all operations. */
export function parametersOf({ paths }: Pick<OpenAPIObject, 'paths'>): readonly Parameter[] {
  return Object.values(paths).flatMap((path) => METHODS.flatMap((method) => path[method]?.parameters ?? []));
}
