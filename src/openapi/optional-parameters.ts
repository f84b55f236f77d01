import type { OpenAPIObject } from '@nestjs/swagger';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

/** A parameter with a default may be left out. The generator calls it required, since its field always has a value. */
export function makeDefaultedParametersOptional({ paths }: Pick<OpenAPIObject, 'paths'>): void {
  for (const path of Object.values(paths)) {
    for (const parameter of METHODS.flatMap((method) => path[method]?.parameters ?? [])) {
      if ('$ref' in parameter || parameter.schema === undefined || '$ref' in parameter.schema) continue;
      if (parameter.schema.default !== undefined) parameter.required = false;
    }
  }
}
