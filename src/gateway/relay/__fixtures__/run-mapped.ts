import type { JsonObject } from '../../../common/json/read.js';
import type { Ask, Credential } from '../../../upstream/providers/provider.types.js';
import type { MappedProvider, OperationInput } from '../operation.types.js';

/** Runs an operation of a mapped provider with a virtual key that has these options. */
export function runner(provider: MappedProvider, { ask }: { readonly ask: Ask }) {
  return (operation: string, input: Partial<OperationInput> = {}, options: object = {}): Promise<JsonObject> => {
    const credential: Credential = { key: undefined, options, organisationId: 'org' };
    const run = provider.operations[operation];
    if (run === undefined) throw new Error(`no operation ${operation}`);
    return run({ params: {}, query: {}, body: undefined, ...input }, ask, credential);
  };
}
