import type { ApiHeaderOptions } from '@nestjs/swagger';
import type { ResourceProvider } from './operation.types.js';
import type { RelayRoute } from './relay-route.js';

/** A family of routes and the providers that serve them. */
export interface ResourceArea {
  /** Heading in the OpenAPI document. */
  readonly tag: string;
  /** Additional headers of these routes, for the OpenAPI document. */
  readonly headers?: readonly ApiHeaderOptions[];
  readonly routes: readonly RelayRoute[];
  readonly providers: readonly ResourceProvider[];
}
