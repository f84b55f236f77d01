import type { JsonObject } from '../../common/json/read.js';
import type { Credential, ProviderSlug, ProviderRequest } from '../../upstream/providers/provider.types.js';

/** What a caller asks of an operation; every rule of the route is already checked. */
export interface OperationInput {
  /** Path parameters, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** Query parameters as text. */
  readonly query: Readonly<Record<string, string>>;
  /** The parsed JSON body, for operations that have one. */
  readonly body: JsonObject | undefined;
}

/**
 * Asks the provider once and resolves with the parsed body of a 2xx answer, undefined when it is empty; throws GatewayError
 * for everything else.
 */
export type Ask = (request: ProviderRequest) => Promise<unknown>;

/** An operation on a provider whose own form differs: as many questions as it takes, one answer in the interface's form. */
export type MappedOperation = (input: OperationInput, ask: Ask, credential: Credential) => Promise<JsonObject>;

/** When a provider retired an area. */
export interface Sunset {
  /** `Deprecation` header, RFC 9745: `@` and Unix seconds. */
  readonly deprecation: string;
  /** `Sunset` header, RFC 8594: an HTTP date. */
  readonly sunset: string;
  /** Where the provider says so. */
  readonly link: string;
}

/** How a provider serves one resource area. */
export type ResourceProvider =
  | {
      /** Speaks the interface's own form: requests and answers pass through byte for byte. */
      readonly kind: 'relay';
      readonly slug: ProviderSlug;
      /** Mends answers of providers that leave required fields out. The resource, or each item of a list. */
      readonly normalise?: (resource: JsonObject) => JsonObject;
      /** Set where the provider has retired the area. */
      readonly sunset?: Sunset;
    }
  | {
      readonly kind: 'mapped';
      readonly slug: ProviderSlug;
      /** By operation name (`batches.list`); what is absent is not supported. */
      readonly operations: Readonly<Record<string, MappedOperation | undefined>>;
    };
