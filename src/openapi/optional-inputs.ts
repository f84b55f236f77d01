import type { OpenAPIObject } from '@nestjs/swagger';
import { parametersOf } from './operations.js';
import { jsonBodiesOf } from './schemas.js';

/** A parameter with a default may be left out. The generator calls it required, since its field always has a value. */
export function makeDefaultedParametersOptional(document: Pick<OpenAPIObject, 'paths'>): void {
  for (const parameter of parametersOf(document)) {
    if ('$ref' in parameter || parameter.schema === undefined || '$ref' in parameter.schema) continue;
    if (parameter.schema.default !== undefined) parameter.required = false;
  }
}

/** A body of which no field is required may be left out. The generator calls every body required. */
export function makeEmptyBodiesOptional(document: Pick<OpenAPIObject, 'paths' | 'components'>): void {
  for (const { requestBody, schema } of jsonBodiesOf(document)) {
    if ((schema.required ?? []).length === 0) requestBody.required = false;
  }
}
