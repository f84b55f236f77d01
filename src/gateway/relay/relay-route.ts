import type { Scope } from '../../access/scopes.js';

/** Kinds of objects that a provider keeps for its callers. */
export type ProviderObjectKind = 'thread' | 'batch' | 'file' | 'fine_tuning.job';

/** A parameter or field that names an object of the provider. */
export interface ObjectReference {
  readonly kind: ProviderObjectKind;
  /** Name of the path parameter, or of the field. */
  readonly name: string;
}

/** One relayed route: everything about it, in one row. */
export interface RelayRoute {
  /** Name of the operation in the OpenAPI document, and so of the function in generated clients: `listBatches`. */
  readonly operationId: string;
  /** Area, object and verb: `batches.list`. Names the operation in traces and for mapped providers. */
  readonly operation: string;
  readonly summary: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Path below the base URL, the same at the gateway and at a provider of this form: `/batches/{batch_id}`. */
  readonly path: string;
  readonly scope: Scope;
  /** The class that validates the query. Without it, no query parameter is accepted. */
  readonly query?: new () => object;
  /** `json` is parsed and must be an object; `stream` is forwarded unread. */
  readonly body?: 'json' | 'stream';
  /**
   * `bytes` are streamed, and so are `events` when the provider returns an event stream. Any other response is JSON and
   * buffered, so that a truncated response never looks complete.
   */
  readonly answer?: 'bytes' | 'events';
  /** The class of the response. Without it, the response is forwarded unchanged, for every provider. */
  readonly response?: new () => object;
  /** The expected kind of a read, a list or an object with its id. Other responses are refused. */
  readonly reads?: 'list' | 'object';
  /** The object that a successful response has created, and the field with its id. */
  readonly creates?: { readonly kind: ProviderObjectKind; readonly idField: string };
  /** The object of a DELETE: the path parameter with its id, and the `object` of the response (`thread.deleted`). */
  readonly deletes?: { readonly idParam: string; readonly object: string };
  /** Objects of the provider in the path. */
  readonly about?: ObjectReference;
  /** Objects of the provider in the body, in fields of this name at any depth. */
  readonly uses?: readonly ObjectReference[];
  /** Objects that the provider created itself, such as result files, in fields of the response. */
  readonly produces?: readonly ObjectReference[];
  /** Kind of the items of a list over all of the account's objects. */
  readonly lists?: ProviderObjectKind;
}
