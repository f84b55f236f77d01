import type { JsonObject } from '../../common/json/read.js';
import type { Ask, Credential, ProviderSlug } from '../../upstream/providers/provider.types.js';

/** The validated input of an operation. */
export interface OperationInput {
  /** Path parameters, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** Query parameters as text. */
  readonly query: Readonly<Record<string, string>>;
  /** Query parameters that may come several times. */
  readonly lists?: Readonly<Record<string, readonly string[]>>;
  /** The parsed JSON body, for operations that have one. */
  readonly body: JsonObject | undefined;
  /** The caller's idempotency key, for providers that make a change with the same key once: 40 hexadecimal digits. */
  readonly changeKey?: string | undefined;
}

/**
 * An operation at a provider with another API: makes as many calls as needed and returns one response in OpenAI's
 * format.
 */
export type MappedOperation = (input: OperationInput, ask: Ask, credential: Credential) => Promise<JsonObject>;

/** When a provider retired an area. */
export interface Sunset {
  /** `Deprecation` header, RFC 9745: `@` and Unix seconds. */
  readonly deprecation: string;
  /** `Sunset` header, RFC 8594: an HTTP date. */
  readonly sunset: string;
  /** The provider's announcement. */
  readonly link: string;
}

/** How a provider serves one resource area. */
export type ResourceProvider =
  | {
      /** Speaks OpenAI's API: requests and responses are forwarded byte for byte. */
      readonly kind: 'relay';
      readonly slug: ProviderSlug;
      /** Adds required fields that a provider leaves out, to the resource or to each item of a list. */
      readonly normalise?: (resource: JsonObject) => JsonObject;
      /** Set where the provider has retired the area. */
      readonly sunset?: Sunset;
    }
  | MappedProvider;

/** A provider with another API, whose resources are mapped to OpenAI's. */
export interface MappedProvider {
  readonly kind: 'mapped';
  readonly slug: ProviderSlug;
  /** By operation name: parameters of the query and fields of the body that have no meaning there. Left out, and named. */
  readonly leavesOut?: Readonly<Record<string, readonly string[] | undefined>>;
  /** By operation name (`batches.list`). Absent operations are not supported. */
  readonly operations: Readonly<Record<string, MappedOperation | undefined>>;
}
