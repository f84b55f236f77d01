import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { McpCall } from './mcp-call.entity.js';

/** As the database is told of it, which reads times as text. */
export type McpCallRow = Omit<McpCall, 'createdAt'> & { readonly createdAt: string };

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
  async insert(rows: readonly McpCallRow[]): Promise<void> {
    await this.calls.query(this.insertion, [JSON.stringify(rows)]);
  }
}

/** The rows come as they are in memory, under the names of the entity's properties. */
function insertionInto({ metadata: { columns, tableName } }: Repository<McpCall>): string {
  const names = columns.map(({ databaseName }) => `"${databaseName}"`).join(', ');
  const properties = columns.map(({ propertyName }) => `"${propertyName}"`).join(', ');
  const typed = columns.map((column) => `"${column.propertyName}" ${String(column.type)}`).join(', ');
  return `INSERT INTO "${tableName}" (${names}) SELECT ${properties} FROM json_to_recordset($1) AS (${typed}) ON CONFLICT DO NOTHING`;
}
