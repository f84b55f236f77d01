import type { Scope } from '../../access/scopes.js';

/** Kinds of objects that a provider keeps for its callers. */
export type ProviderObjectKind = 'thread' | 'batch' | 'file' | 'fine_tuning.job';

/** A place in a request, or in an answer, that names an object of the provider. */
export interface ObjectReference {
  readonly kind: ProviderObjectKind;
  /** Name of the path parameter, or of the field. */
  readonly name: string;
}

/** One route that is passed on to a provider: everything about it, in one row. */
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
  /** Rules of the query; none may be sent otherwise. */
  readonly query?: new () => object;
  /** `json` is read and checked to be an object; `stream` is passed on as it comes, whatever it is. */
  readonly body?: 'json' | 'stream';
  /**
   * `bytes` are passed on as they come, and so are `events` when the provider answers with an event stream. Everything else
   * is JSON and read whole, so that half an answer never looks like one.
   */
  readonly answer?: 'bytes' | 'events';
  /** Form of the answer. One without is passed on as it is, whatever the provider. */
  readonly response?: new () => object;
  /** What is read, where an answer that is something else has to be refused: a list, or an object with its id. */
  readonly reads?: 'list' | 'object';
  /** The object that a successful answer has made, and the field that holds its id. */
  readonly creates?: { readonly kind: ProviderObjectKind; readonly idField: string };
  /** What a DELETE deletes: the path parameter that holds its id, and what the answer calls it (`thread.deleted`). */
  readonly deletes?: { readonly idParam: string; readonly object: string };
  /** The objects of the provider that the request is about: in its path. */
  readonly about?: ObjectReference;
  /** The objects of the provider that the body refers to, by fields of this name at any depth. */
  readonly uses?: readonly ObjectReference[];
  /** The objects that the provider made of its own accord for what the answer is about, by the answer's own fields. */
  readonly produces?: readonly ObjectReference[];
  /** Kind of the items of a list over all of the account's objects. */
  readonly lists?: ProviderObjectKind;
}
