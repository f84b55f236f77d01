import { Client } from 'pg';
import { eventually } from './eventually.js';
import type { Answer } from './send.js';
import { testDatabase } from './test-database.js';

const ENOUGH_MS = 4_000;

/** A session of its own on the tests' database server, which blocks the gateway's sessions until it commits. */
export class BlockingSession {
  readonly #client: Client;

  private constructor(client: Client) {
    this.#client = client;
  }

  static async open(): Promise<BlockingSession> {
    const client = new Client({ connectionString: (await testDatabase()).url });
    await client.connect();
    return new BlockingSession(client);
  }

  async close(): Promise<void> {
    await this.#client.end();
  }

  /** Runs a statement and keeps its locks. */
  async begin(statement: string, values: readonly unknown[]): Promise<void> {
    await this.#client.query('BEGIN');
    await this.#client.query(statement, [...values]);
  }

  /** Sends the requests so that they wait, in this order, for this session's locks, and then commits. */
  async commitAfter(requests: readonly (() => Promise<Answer>)[]): Promise<readonly Answer[]> {
    const answers: Promise<Answer>[] = [];
    for (const request of requests) {
      answers.push(request());
      await eventually(async () => (await this.#waiting()) === answers.length, ENOUGH_MS);
    }
    await this.#client.query('COMMIT');
    return Promise.all(answers);
  }

  async #waiting(): Promise<number> {
    const { rowCount } = await this.#client.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return rowCount ?? 0;
  }
}
