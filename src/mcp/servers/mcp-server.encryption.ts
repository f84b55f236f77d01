import { Injectable } from '@nestjs/common';
import { isObject, stringOrUndefined } from '../../common/json/read.js';
import { openSealed } from '../../sealing/decrypted.js';
import { type SealedPlace, Sealer } from '../../sealing/sealer.js';
import type { McpServer } from './mcp-server.entity.js';

/** What of a server is sealed. Values of fields that are mapped to secret references are never among these. */
export interface McpServerSecrets {
  /** Fixed headers by name. */
  readonly headers: Readonly<Record<string, string>>;
  /** With which the gateway asks the identity provider about opaque tokens. */
  readonly introspectionClientSecret?: string | undefined;
}

type SealableRow = Pick<McpServer, 'id' | 'organisationId'>;

/** Seals and opens the secrets of MCP servers, bound to their tenant, row and column. */
@Injectable()
export class McpServerEncryptor {
  constructor(private readonly sealer: Sealer) {}

  seal(row: SealableRow, secrets: McpServerSecrets): string | null {
    const isEmpty = Object.keys(secrets.headers).length === 0 && secrets.introspectionClientSecret === undefined;
    return isEmpty ? null : this.sealer.seal(JSON.stringify(secrets), placeOf(row));
  }

  /** @throws GatewayError `secret_unavailable` when the value is damaged or its master key is not configured */
  open(row: SealableRow & Pick<McpServer, 'sealedSecrets'>): McpServerSecrets {
    if (row.sealedSecrets === null) return { headers: {} };
    return readSecrets(JSON.parse(openSealed(this.sealer, row.sealedSecrets, placeOf(row))));
  }
}

export function placeOf(row: SealableRow): SealedPlace {
  return { organisationId: row.organisationId, table: 'mcp_servers', rowId: row.id, field: 'sealed_secrets' };
}

function readSecrets(value: unknown): McpServerSecrets {
  const { headers, introspectionClientSecret } = Object(value);
  const entries = Object.entries(isObject(headers) ? headers : {});
  return {
    headers: Object.fromEntries(entries.map(([name, text]) => [name, String(text)])),
    introspectionClientSecret: stringOrUndefined(introspectionClientSecret),
  };
}
