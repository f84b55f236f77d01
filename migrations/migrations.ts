import { CreateOrganisationsAndWorkspaces1795219200000 } from './1795219200000-create-organisations-and-workspaces.js';
import { CreateServerSecrets1795219200001 } from './1795219200001-create-server-secrets.js';
import { CreateApiKeys1795219200002 } from './1795219200002-create-api-keys.js';
import { CreateVirtualKeys1795219200003 } from './1795219200003-create-virtual-keys.js';
import { CreateAuditLogEntries1795219200004 } from './1795219200004-create-audit-log-entries.js';
import { CreateProviderObjects1795219200005 } from './1795219200005-create-provider-objects.js';
import { CreateSecretReferences1795219200006 } from './1795219200006-create-secret-references.js';
import { CreateWebhooks1795219200007 } from './1795219200007-create-webhooks.js';
import { CreateUsage1795219200008 } from './1795219200008-create-usage.js';
import { CreateUsagePolicies1795219200009 } from './1795219200009-create-usage-policies.js';
import { CreatePrices1795219200010 } from './1795219200010-create-prices.js';
import { CreateMcpServers1795219200012 } from './1795219200012-create-mcp-servers.js';
import { ReviseUsageCounting1795219200013 } from './1795219200013-revise-usage-counting.js';
import { IndexEndsOfUsageWindows1795219200020 } from './1795219200020-index-ends-of-usage-windows.js';
import { BoundChangesOfLimits1795219200030 } from './1795219200030-bound-changes-of-limits.js';
import { TellServersOfObjectsApart1795219200040 } from './1795219200040-tell-servers-of-objects-apart.js';
import { KeepCountersWithinBounds1795219200045 } from './1795219200045-keep-counters-within-bounds.js';
import { LetGoOfArchivedPolicies1795219200060 } from './1795219200060-let-go-of-archived-policies.js';
import { CreatePriceImports1795219200070 } from './1795219200070-create-price-imports.js';
import { TellRaisedThresholdsAgain1795219200080 } from './1795219200080-tell-raised-thresholds-again.js';
import { LetFreeCallsPass1795219200090 } from './1795219200090-let-free-calls-pass.js';

/** In order of application. Classes, not file patterns: the same list works from source, build and tests. */
export const MIGRATIONS = [
  CreateOrganisationsAndWorkspaces1795219200000,
  CreateServerSecrets1795219200001,
  CreateApiKeys1795219200002,
  CreateVirtualKeys1795219200003,
  CreateAuditLogEntries1795219200004,
  CreateProviderObjects1795219200005,
  CreateSecretReferences1795219200006,
  CreateWebhooks1795219200007,
  CreateUsage1795219200008,
  CreateUsagePolicies1795219200009,
  CreatePrices1795219200010,
  CreateMcpServers1795219200012,
  ReviseUsageCounting1795219200013,
  IndexEndsOfUsageWindows1795219200020,
  BoundChangesOfLimits1795219200030,
  TellServersOfObjectsApart1795219200040,
  KeepCountersWithinBounds1795219200045,
  LetGoOfArchivedPolicies1795219200060,
  CreatePriceImports1795219200070,
  TellRaisedThresholdsAgain1795219200080,
  LetFreeCallsPass1795219200090,
] as const;
