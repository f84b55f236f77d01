import { createHash } from 'node:crypto';
import type { MigrationInterface, QueryRunner } from 'typeorm';

interface Row {
  readonly id: string;
  readonly audience: string;
}

/** An audience of signed identities belongs to one MCP server. Of earlier servers that share one, the oldest has it. */
export class AudiencesOfServers1795674200000 implements MigrationInterface {
  readonly name = 'AudiencesOfServers1795674200000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE "mcp_servers" ADD "audience_digest" varchar(43)');
    await runner.query(
      'CREATE UNIQUE INDEX "uq_mcp_servers_audience" ON "mcp_servers" ("audience_digest") WHERE "audience_digest" IS NOT NULL',
    );
    const rows: readonly Row[] = await runner.query(
      `SELECT "id", "user_identity_forwarding"->>'audience' AS "audience" FROM "mcp_servers"
       WHERE "user_identity_forwarding"->>'audience' IS NOT NULL ORDER BY "created_at", "id"`,
    );
    const owners = new Map<string, string>();
    for (const { id, audience } of rows) {
      const digest = digestOf(audience);
      if (!owners.has(digest)) owners.set(digest, id);
    }
    for (const [digest, id] of owners) {
      await runner.query('UPDATE "mcp_servers" SET "audience_digest" = $1 WHERE "id" = $2', [digest, id]);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE "mcp_servers" DROP COLUMN "audience_digest"');
  }
}

/** As the servers' own code makes it. */
function digestOf(audience: string): string {
  const folded = (URL.canParse(audience) ? new URL(audience).href : audience).replace(/\/+$/, '');
  return createHash('sha256').update(folded).digest('base64url');
}
