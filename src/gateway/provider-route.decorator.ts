import { applyDecorators, UseGuards } from '@nestjs/common';
import { ApiHeader, ApiSecurity } from '@nestjs/swagger';
import { ApiKeyOnly } from '../access/api-key-only.decorator.js';
import { RequireScope } from '../access/require-scope.decorator.js';
import type { Scope } from '../access/scopes.js';
import { VirtualKeyGuard } from './virtual-key.guard.js';

const TRACING_HEADERS = [
  ['x-gateway-trace-id', 'Id to find one or more requests by; made by the gateway when absent, and always answered.'],
  ['x-gateway-span-id', 'Id of a span in the trace.'],
  ['x-gateway-parent-span-id', 'Id of the parent span.'],
  ['x-gateway-span-name', 'Name of the span.'],
  [
    'x-gateway-metadata',
    'JSON object of at most 32 names and values, of at most 128 characters each. Values that are no strings count as their JSON.',
  ],
] as const;

/** A route that acts on a provider: gateway key with the scope, then virtual key. */
export function ProviderRoute(scope: Scope): MethodDecorator {
  return applyDecorators(
    RequireScope(scope),
    ApiKeyOnly(),
    UseGuards(VirtualKeyGuard),
    ApiSecurity('gatewayKey'),
    ApiSecurity('bearer'),
    ApiHeader({
      name: 'x-gateway-virtual-key',
      required: true,
      description: 'Slug of the virtual key: provider and credential.',
    }),
    ApiHeader({
      name: 'x-gateway-strict',
      required: false,
      description: '`true`: refuse options that the provider lacks.',
    }),
    ...TRACING_HEADERS.map(([name, description]) => ApiHeader({ name, description, required: false })),
  );
}
