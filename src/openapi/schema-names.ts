import type { OpenAPIObject } from '@nestjs/swagger';
import { isObject } from '../common/json/read.js';

const COMPONENTS = '#/components/schemas/';
/** Bodies of requests, as opposed to the objects in them. */
const BODY = /^(?:Create|Update|Rotate|Simulate)\w*Dto$/;
/** Names that would hide a global of JavaScript, or say too little, without their suffix. */
const SPECIAL: Readonly<Record<string, string>> = {
  ConditionDto: 'UsageLimitCondition',
  CreatedResponse: 'CreatedResource',
  DeletedResponse: 'DeletedObject',
  ErrorResponse: 'ErrorResponse',
  FileResponse: 'FileObject',
  GroupDto: 'UsageLimitGroup',
  NoFieldsDto: 'EmptyRequest',
  RerankResponse: 'RerankResponse',
};

/**
 * Gives schemas the names that users of a generated client expect: `VirtualKey`, not `VirtualKeyResponse`, and
 * `CreateVirtualKeyRequest`, not `CreateVirtualKeyDto`. Until then schemas are found by the names of their classes.
 */
export function renameSchemas(document: OpenAPIObject): void {
  const schemas = document.components?.schemas ?? {};
  const names = new Map(Object.keys(schemas).map((name) => [name, publicName(name, schemas)]));
  if (new Set(names.values()).size !== names.size) throw new Error('two schemas would have the same name');
  const renamed = Object.entries(schemas).map(([name, schema]) => [names.get(name) ?? name, schema] as const);
  document.components = { ...document.components, schemas: Object.fromEntries(renamed) };
  renameReferences(document, names);
}

function publicName(name: string, schemas: object): string {
  const special = SPECIAL[name];
  if (special !== undefined) return special;
  if (BODY.test(name)) return name.replace(/Dto$/, 'Request');
  // An object that requests and responses have in different forms.
  const isInput = name.endsWith('Dto') && name.replace(/Dto$/, 'Response') in schemas;
  return name.replace(/Dto$/, isInput ? 'Input' : '').replace(/Response$/, '');
}

function renameReferences(part: unknown, names: ReadonlyMap<string, string>): void {
  if (Array.isArray(part)) for (const item of part) renameReferences(item, names);
  if (!isObject(part)) return;
  const reference = part['$ref'];
  if (typeof reference !== 'string') return Object.values(part).forEach((value) => renameReferences(value, names));
  const name = names.get(reference.slice(COMPONENTS.length));
  if (reference.startsWith(COMPONENTS) && name !== undefined) Reflect.set(part, '$ref', COMPONENTS + name);
}
