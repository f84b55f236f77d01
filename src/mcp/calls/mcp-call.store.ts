import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { LessThan, type Repository } from 'typeorm';
import { McpCall } from './mcp-call.entity.js';

@Injectable()
export class McpCallStore {
  private readonly insertion: string;

  constructor(@InjectRepository(McpCall) private readonly calls: Repository<McpCall>) {
    this.insertion = insertionInto(calls);
  }

  /**
   * Rows that are there already stay as they are: they come again when the database took them but could not say so.
   * One parameter for all rows: a query builder handles every value by itself, which costs more than the rest of a call.
   */
  async insert(rows: readonly McpCall[]): Promise<void> {
    const { columns } = this.calls.metadata;
    const values = rows.map((row) =>
      columns.map((column) => [column.databaseName, column.getEntityValue(row)] as const),
    );
    await this.calls.query(this.insertion, [JSON.stringify(values.map((row) => Object.fromEntries(row)))]);
  }

  async deleteBefore(time: Date): Promise<void> {
    await this.calls.delete({ createdAt: LessThan(time) });
  }
}

function insertionInto({ metadata: { columns, tableName } }: Repository<McpCall>): string {
  const names = columns.map(({ databaseName }) => `"${databaseName}"`).join(', ');
  return `INSERT INTO "${tableName}" (${names}) SELECT ${names} FROM json_populate_recordset(NULL::"${tableName}", $1) ON CONFLICT DO NOTHING`;
}
