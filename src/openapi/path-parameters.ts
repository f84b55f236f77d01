import { type Document, operationEntriesOf } from './document.js';

/** Words that a plural or a field name does not show well. */
const NOUNS: Readonly<Record<string, string>> = {
  api_key: 'API key',
  entity: 'group of the usage limit',
  fine_tuning_job: 'fine-tuning job',
  fine_tuned_model_checkpoint: 'fine-tuned model',
  mcp_server: 'MCP server',
  server: 'MCP server',
};

/** Describes every parameter of a path by its own name (`batch_id`) or by the collection before it (`/virtual-keys/{ref}`). */
export function describePathParameters(document: Pick<Document, 'paths'>): void {
  for (const { path, operation } of operationEntriesOf(document)) {
    for (const parameter of operation.parameters ?? []) {
      if ('$ref' in parameter || parameter.in !== 'path') continue;
      const kind = /(?:id|checkpoint)$/.test(parameter.name) ? 'id' : 'id or slug';
      parameter.description ??= `The ${kind} of the ${nounOf(path, parameter.name)}.`;
    }
  }
}

/** A map in a query is written as `metadata[team]=search`. */
export function describeDeepObjects(document: Pick<Document, 'paths'>): void {
  for (const { operation } of operationEntriesOf(document)) {
    for (const parameter of operation.parameters ?? []) {
      if ('$ref' in parameter || parameter.in !== 'query' || parameter.schema === undefined) continue;
      if (!('type' in parameter.schema) || parameter.schema.type !== 'object') continue;
      parameter.style = 'deepObject';
      parameter.explode = true;
    }
  }
}

function nounOf(path: string, name: string): string {
  const own = name.replace(/_?(?:id|ref)$/, '');
  const noun = own === '' ? singular(collectionBefore(path, name)) : own;
  return NOUNS[noun] ?? noun.replaceAll('_', ' ');
}

/** `virtual_keys` in `/v1/virtual-keys/{ref}`. */
function collectionBefore(path: string, name: string): string {
  const segments = path.split('/');
  return (segments[segments.indexOf(`{${name}}`) - 1] ?? '').replaceAll('-', '_');
}

function singular(plural: string): string {
  return plural.replace(/s$/, '');
}
