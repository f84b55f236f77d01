import type { ApiHeaderOptions } from '@nestjs/swagger';
import type { ResourceProvider } from './operation.types.js';
import type { RelayRoute } from './relay-route.js';

/** A family of routes and the providers that serve them. */
export interface ResourceArea {
  /** Heading in the document. */
  readonly tag: string;
  /** For the document: headers that these routes take besides those of all. */
  readonly headers?: readonly ApiHeaderOptions[];
  readonly routes: readonly RelayRoute[];
  readonly providers: readonly ResourceProvider[];
}
