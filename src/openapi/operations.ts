import type { OpenAPIObject } from '@nestjs/swagger';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;
type Parameter = NonNullable<Operation['parameters']>[number];

export function operationsOf({ paths }: Pick<OpenAPIObject, 'paths'>): readonly Operation[] {
  return Object.values(paths).flatMap((path) => METHODS.flatMap((method) => path[method] ?? []));
}

/** Of the paths and queries of all operations. */
export function parametersOf(document: Pick<OpenAPIObject, 'paths'>): readonly Parameter[] {
  return operationsOf(document).flatMap(({ parameters }) => parameters ?? []);
}

/** Says of operations without a caller that they need none; what says nothing may be read either way. */
export function describePublicOperations(document: Pick<OpenAPIObject, 'paths'>): void {
  for (const operation of operationsOf(document)) operation.security ??= [];
}
