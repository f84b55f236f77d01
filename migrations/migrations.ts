import { Baseline1795219200000 } from './1795219200000-baseline.js';
import { UsagePolicySlugs1795219250001 } from './1795219250001-usage-policy-slugs.js';
import { IdempotencyKeys1795219250002 } from './1795219250002-idempotency-keys.js';
import { ApiKeyFacts1795219250003 } from './1795219250003-api-key-facts.js';
import { AuditValues1795219250004 } from './1795219250004-audit-values.js';
import { WebhookFormats1795219250005 } from './1795219250005-webhook-formats.js';
import { AssertedIdentities1795674100000 } from './1795674100000-asserted-identities.js';
import { AudiencesOfServers1795674200000 } from './1795674200000-audiences-of-servers.js';
import { SecretDestinations1795674300000 } from './1795674300000-secret-destinations.js';
import { McpGrants1795690000000 } from './1795690000000-mcp-grants.js';
import { ProviderAccessOfKeys1795690100000 } from './1795690100000-provider-access-of-keys.js';
import { McpCallOutcomes1795690200000 } from './1795690200000-mcp-call-outcomes.js';
import { PinnedTools1795690300000 } from './1795690300000-pinned-tools.js';
import { CallsWithoutABound1795690400000 } from './1795690400000-calls-without-a-bound.js';
import { ModelRoutes1795690500000 } from './1795690500000-model-routes.js';
import { OutputsOfModelRoutes1795690600000 } from './1795690600000-outputs-of-model-routes.js';
import { Sessions1795700000000 } from './1795700000000-sessions.js';
import { UsageRollups1795700100000 } from './1795700100000-usage-rollups.js';
import { ProviderJobs1795700760000 } from './1795700760000-provider-jobs.js';
import { TrainingTokens1795700770000 } from './1795700770000-training-tokens.js';
import { RequestLogs1795700800000 } from './1795700800000-request-logs.js';
import { ResponsePins1795700900000 } from './1795700900000-response-pins.js';
import { SessionsOfPeople1795704100000 } from './1795704100000-sessions-of-people.js';
import { InputSchemasOfTools1795704200000 } from './1795704200000-input-schemas-of-tools.js';
import { BodiesOfCalls1795800000000 } from './1795800000000-bodies-of-calls.js';
import { RequestedModelsOfCalls1795800100000 } from './1795800100000-requested-models-of-calls.js';

/** In order of application. Classes, not file patterns: the same list works from source, build and tests. */
export const MIGRATIONS = [
  Baseline1795219200000,
  UsagePolicySlugs1795219250001,
  IdempotencyKeys1795219250002,
  ApiKeyFacts1795219250003,
  AuditValues1795219250004,
  WebhookFormats1795219250005,
  AssertedIdentities1795674100000,
  AudiencesOfServers1795674200000,
  SecretDestinations1795674300000,
  McpGrants1795690000000,
  ProviderAccessOfKeys1795690100000,
  McpCallOutcomes1795690200000,
  PinnedTools1795690300000,
  CallsWithoutABound1795690400000,
  ModelRoutes1795690500000,
  OutputsOfModelRoutes1795690600000,
  Sessions1795700000000,
  UsageRollups1795700100000,
  ProviderJobs1795700760000,
  TrainingTokens1795700770000,
  RequestLogs1795700800000,
  ResponsePins1795700900000,
  SessionsOfPeople1795704100000,
  InputSchemasOfTools1795704200000,
  BodiesOfCalls1795800000000,
  RequestedModelsOfCalls1795800100000,
] as const;
