import type { Scope } from '../../access/scopes.js';

/** Kinds of objects that a provider keeps for its callers. */
export type ProviderObjectKind =
  | 'assistant'
  | 'thread'
  | 'thread.run'
  | 'vector_store'
  | 'batch'
  | 'file'
  | 'upload'
  | 'upload_part'
  | 'fine_tuning.job'
  /** A model, or a checkpoint of one, that a fine-tuning job has made. */
  | 'fine_tuned_model'
  | 'response'
  // No route records these: no workspace owns them.
  | 'conversation'
  | 'container'
  | 'audio';

/** A parameter or field that names an object of the provider. */
export interface ObjectReference {
  readonly kind: ProviderObjectKind;
  /** Name of the path parameter, or of the field. */
  readonly name: string;
}

/**
 * One relayed route: everything about it, in one row. The kind decides the method, the body and the response. A
 * `list`, `items` or `retrieve` refuses a response that is not a list, or not an object with its id.
 */
export type RelayRoute =
  /** Objects of the whole account. An isolated caller gets those of its workspace. */
  | (Row & Answered & Listing & { readonly kind: 'list'; readonly lists: ProviderObjectKind })
  /** `items` is a list within an object of the path: the messages of a thread. */
  | (Row & About & Answered & Listing & { readonly kind: 'items' })
  | (Row & About & Answered & Streamed & { readonly kind: 'retrieve' })
  /** The bytes of the response are streamed: of the object in the path, or of a file that it names. */
  | (Row & About & { readonly kind: 'download'; readonly response?: undefined; readonly file?: NamedFile })
  | (Row & Creating & Answered & JsonBody & { readonly kind: 'create' })
  /** The body is forwarded unread. Within an object of the path: a part of an upload. */
  | (Row & Creating & Answered & Partial<About> & { readonly kind: 'upload' })
  /** A POST that neither creates nor names an object: the run of a grader. */
  | (Row & Answered & JsonBody & { readonly kind: 'call' })
  /** Any other POST on an object of the path. */
  | (Row & About & Answered & JsonBody & { readonly kind: 'action' })
  | (Row & About & Deleting & { readonly kind: 'delete' });

interface Row {
  /** Name of the operation in the OpenAPI document, and so of the function in generated clients: `listBatches`. */
  readonly operationId: string;
  /** Area, object and verb: `batches.list`. Names the operation in traces and for mapped providers. */
  readonly operation: string;
  readonly summary: string;
  /** Path below the base URL, the same at the gateway and at a provider of this form: `/batches/{batch_id}`. */
  readonly path: string;
  readonly scope: Scope;
  /** The class that validates the query. Without it, no query parameter is accepted. */
  readonly query?: new () => object;
  /**
   * Starts work, or keeps something, that the provider bills later: refused under a usage limit that is used up. A list has the
   * fields of the body that do so, at any depth.
   */
  readonly spends?: true | readonly string[];
  /** Starts a job that is metered, at the providers that a meter of its room names: it is reserved, and settled later. */
  readonly startsJob?: true;
  /** Goes on with a job that its path names: where it may use more than is reserved for it, the rest is reserved. */
  readonly continuesJob?: true;
  /** The kind of the jobs that the answer shows, where it is not that of the object in the path. */
  readonly shows?: ProviderObjectKind;
  /**
   * Where the models stand that do the work. `in_body`: in the field `model`, or elsewhere where that is absent. `elsewhere`: in a
   * file, or in another object. Absent: no model works, or the one with which the work started.
   */
  readonly models?: 'in_body' | 'elsewhere';
}

/** A file whose id is a field of another object: the output of a batch. */
export interface NamedFile {
  /** Where the object is read: `/batches/{batch_id}`. */
  readonly objectPath: string;
  readonly field: string;
}

/** As usage limits name it: the first word of the operation, `batches`. */
export function endpointOf({ operation }: Pick<RelayRoute, 'operation'>): string {
  return operation.split('.', 1)[0] ?? operation;
}

interface About {
  /** The object of the provider in the path, which an isolated caller must own. */
  readonly about: ObjectReference;
}

/** The response is JSON and buffered, so that a truncated response never looks complete. */
interface Answered {
  /** The class of the response. Without it, the response is forwarded unchanged, for every provider. */
  readonly response?: new () => object;
  /** Objects that the provider created itself, such as result files, in fields of the response. */
  readonly produces?: readonly ObjectReference[];
}

/** `object` and `has_more` of a list are filled in where a server leaves them out. */
interface Listing {
  /** Whether the API requires `first_id` and `last_id` as well. */
  readonly needsIds?: boolean;
}

/** The body is parsed and must be an object. */
interface JsonBody extends Streamed {
  /** Objects of the provider in the body, in fields of this name at any depth. */
  readonly uses?: readonly ObjectReference[];
}

interface Streamed {
  /** The response is streamed when the provider returns an event stream. */
  readonly mayStream?: boolean;
}

interface Creating {
  /** The object that a successful response has created, and the field with its id. */
  readonly creates: { readonly kind: ProviderObjectKind; readonly idField: string };
}

interface Deleting {
  readonly response?: new () => object;
  /** The path parameter with the id, and the `object` of the response (`thread.deleted`). */
  readonly deletes: { readonly idParam: string; readonly object: string };
}

const METHODS = {
  list: 'GET',
  items: 'GET',
  retrieve: 'GET',
  download: 'GET',
  create: 'POST',
  upload: 'POST',
  action: 'POST',
  call: 'POST',
  delete: 'DELETE',
} as const;

export function methodOf({ kind }: Pick<RelayRoute, 'kind'>): 'GET' | 'POST' | 'DELETE' {
  return METHODS[kind];
}

export function hasJsonBody(route: RelayRoute): route is Extract<RelayRoute, { kind: 'create' | 'action' | 'call' }> {
  return route.kind === 'create' || route.kind === 'action' || route.kind === 'call';
}

export function mayStreamEvents(route: RelayRoute): boolean {
  return (hasJsonBody(route) || route.kind === 'retrieve') && route.mayStream === true;
}

/** The objects of the provider that a route names, creates or returns. */
export interface RouteObjects {
  readonly about: ObjectReference | undefined;
  readonly lists: ProviderObjectKind | undefined;
  readonly creates: Creating['creates'] | undefined;
  readonly uses: readonly ObjectReference[];
  readonly produces: readonly ObjectReference[];
}

export function objectsOf(route: RelayRoute): RouteObjects {
  return {
    about: 'about' in route ? route.about : undefined,
    lists: 'lists' in route ? route.lists : undefined,
    creates: 'creates' in route ? route.creates : undefined,
    uses: ('uses' in route ? route.uses : undefined) ?? [],
    produces: ('produces' in route ? route.produces : undefined) ?? [],
  };
}
