import { SCOPES } from '../../src/access/scopes.js';
import { ApiKeyIssuer } from '../../src/api-keys/api-key-issuer.js';
import { Organisation } from '../../src/workspaces/organisation.entity.js';
import { Workspace } from '../../src/workspaces/workspace.entity.js';
import { GatewayClient } from './gateway-client.js';
import type { TestApp } from './test-app.js';

export interface Tenant {
  readonly organisationId: string;
  readonly workspaceId: string;
  /** A caller of the whole organisation with every scope. */
  readonly client: GatewayClient;
}

/** Adds another organisation with a workspace and an admin key directly to the database: no route creates organisations. */
export async function addTenant({ app, dataSource, url }: TestApp, slug: string): Promise<Tenant> {
  const issuer = app.get(ApiKeyIssuer, { strict: false });
  return dataSource.transaction(async (manager) => {
    const { id: organisationId } = await manager.save(manager.create(Organisation, { slug, name: slug }));
    const workspace = { organisationId, slug: 'default', name: 'Default', description: null, defaults: {} };
    const { id: workspaceId } = await manager.save(manager.create(Workspace, workspace));
    const fields = { organisationId, workspaceId: null, name: 'admin', scopes: [...SCOPES] };
    const { key } = await issuer.issue(manager, { ...fields, type: 'service', user: null, expiresAt: null });
    return { organisationId, workspaceId, client: new GatewayClient(url).as(key) };
  });
}
