import { applyDecorators, UseGuards } from '@nestjs/common';
import { ApiHeader, ApiSecurity } from '@nestjs/swagger';
import { RequireScope, ApiKeyOnly } from '../access/route-access.decorators.js';
import type { Scope } from '../access/scopes.js';
import { MayFail } from '../common/errors/may-fail.decorator.js';
import { VirtualKeyGuard } from './virtual-key.guard.js';

const TRACING_HEADERS = [
  [
    'x-gateway-trace-id',
    'An id to find one or more requests by. The gateway makes one when it is absent, and returns it in any case.',
  ],
  ['x-gateway-span-id', 'The id of a span in the trace.'],
  ['x-gateway-parent-span-id', 'The id of the parent span.'],
  ['x-gateway-span-name', 'The name of the span.'],
  [
    'x-gateway-metadata',
    'A JSON object of at most 32 names and values, each of at most 128 characters. A value that is not a string counts as its JSON text.',
  ],
  [
    'x-gateway-session',
    'The session of an agent, at most 128 characters: the value `session` of the metadata, if they have none.',
  ],
] as const;

/** Errors of every call to a provider. */
const PROVIDER_ERRORS = [
  'unsupported_parameter',
  'provider_not_supported',
  'virtual_key_required',
  'provider_rejected',
  'virtual_key_not_found',
  'model_not_found',
  'model_not_allowed',
  'provider_rate_limited',
  'provider_credential_rejected',
  'provider_failed',
  'provider_invalid_response',
  'secret_unavailable',
  'provider_busy',
  'provider_timeout',
] as const;

/** Errors of a call that usage limits apply to. */
const METERED_ERRORS = [
  'usage_limit_exceeded',
  'price_unknown',
  'usage_limit_contended',
  'usage_limit_unreadable',
] as const;

/** Documents that usage limits apply to the route. */
export const Metered = (): MethodDecorator => MayFail(...METERED_ERRORS);

/** Documents that usage limits apply to the route, and that its calls may have no bound. */
export const MeteredByBound = (): MethodDecorator => MayFail(...METERED_ERRORS, 'usage_not_bounded');

/** A route that calls a provider: requires a gateway key with the scope, then a virtual key. */
export function ProviderRoute(scope: Scope): MethodDecorator {
  return applyDecorators(
    RequireScope(scope),
    ApiKeyOnly(),
    UseGuards(VirtualKeyGuard),
    MayFail(...PROVIDER_ERRORS),
    ApiSecurity('gatewayKey'),
    ApiSecurity('bearer'),
    ApiHeader({
      name: 'x-gateway-virtual-key',
      required: false,
      description:
        'The slug of a virtual key, which names the provider and its credential. Without it, `@slug/` before the model names the virtual key, or else the `default_virtual_key` of the API key is used.',
      schema: { type: 'string', example: 'cohere-production' },
    }),
    ApiHeader({
      name: 'x-portkey-config',
      required: false,
      description:
        'A config of Portkey, as JSON: strategy (single, fallback, loadbalance, conditional) and targets, which name virtual keys. Takes precedence over the virtual key.',
    }),
    ApiHeader({
      name: 'x-gateway-strict',
      required: false,
      description: 'With `true`, the gateway refuses options that the provider does not have. Otherwise it drops them.',
    }),
    ...TRACING_HEADERS.map(([name, description]) => ApiHeader({ name, description, required: false })),
  );
}
