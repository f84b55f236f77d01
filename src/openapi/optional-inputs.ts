import type { OpenAPIObject } from '@nestjs/swagger';
import { operationsOf, parametersOf } from './operations.js';

/** A parameter with a default may be left out. The generator calls it required, since its field always has a value. */
export function makeDefaultedParametersOptional(document: Pick<OpenAPIObject, 'paths'>): void {
  for (const parameter of parametersOf(document)) {
    if ('$ref' in parameter || parameter.schema === undefined || '$ref' in parameter.schema) continue;
    if (parameter.schema.default !== undefined) parameter.required = false;
  }
}

/** A body of which no field is required may be left out. The generator calls every body required. */
export function makeEmptyBodiesOptional(document: Pick<OpenAPIObject, 'paths' | 'components'>): void {
  for (const { requestBody } of operationsOf(document)) {
    if (requestBody === undefined || '$ref' in requestBody) continue;
    const schema = requestBody.content['application/json']?.schema;
    if (schema === undefined || !('$ref' in schema)) continue;
    const component = document.components?.schemas?.[schema.$ref.slice('#/components/schemas/'.length)];
    if (component === undefined || '$ref' in component) continue;
    if ((component.required ?? []).length === 0) requestBody.required = false;
  }
}
