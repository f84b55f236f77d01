import { once } from 'node:events';
import { DataSource, type QueryRunner } from 'typeorm';
import type { TollgateDataSource } from '../../database/tollgate-data-source.js';

/**
 * What happens to the next statements: the database does the work, but nobody hears of it; or it never hears of them; or
 * their commit takes until `commitStalled` (needs a server: the embedded database has one session). There is no connection
 * for those that are `refused`, nor, until `freed`, for those that are `crowded out`.
 */
export type Breakage = 'answer lost' | 'refused' | 'crowded out' | 'silent' | 'commit stalled';

export class BreakableDatabase {
  /** In order, one a statement; then all is well. */
  readonly breakages: Breakage[] = [];
  statements = 0;
  readonly dataSource: DataSource;
  private readonly stalled: QueryRunner[] = [];
  private readonly crowd = new AbortController();

  constructor(private readonly real: TollgateDataSource) {
    this.dataSource = new Proxy(real, {
      get: (target, name) =>
        name === 'createQueryRunner'
          ? () => this.runner(target.createQueryRunner())
          : Reflect.get(target, name, target),
    });
  }

  async commitStalled(): Promise<void> {
    for (const runner of this.stalled.splice(0)) {
      await runner.commitTransaction();
      await runner.release();
    }
  }

  /** Resolves when those that were crowded out have gone on. */
  async freed(): Promise<void> {
    this.crowd.abort();
    await new Promise((resolve) => setImmediate(resolve));
  }

  private async stall(sql: string, parameters: unknown[]): Promise<void> {
    const runner = this.real.createQueryRunner();
    await runner.startTransaction();
    await runner.query(sql, parameters);
    this.stalled.push(runner);
  }

  private runner(real: QueryRunner): QueryRunner {
    const query = async (sql: string, parameters: unknown[]): Promise<unknown> => {
      this.statements += 1;
      const breakage = this.breakages.shift();
      if (breakage === 'refused') throw refusal();
      if (breakage === 'commit stalled') await this.stall(sql, parameters);
      if (breakage === 'silent' || breakage === 'commit stalled') return untilClosed(await real.connect());
      const answer: unknown = await real.query(sql, parameters);
      if (breakage === 'answer lost') throw new Error('Connection terminated unexpectedly');
      return answer;
    };
    const connect = async (): Promise<unknown> => {
      const [breakage] = this.breakages;
      if (breakage === 'refused' || breakage === 'crowded out') {
        this.statements += 1;
        this.breakages.shift();
      }
      if (breakage === 'refused') throw refusal();
      if (breakage === 'crowded out') await once(this.crowd.signal, 'abort');
      return real.connect();
    };
    return new Proxy(real, {
      get: (target, name) => {
        if (name === 'query') return query;
        if (name === 'connect') return connect;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  }
}

function refusal(): Error {
  return Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
}

function untilClosed(connection: NodeJS.EventEmitter): Promise<never> {
  return new Promise((_, reject) => {
    connection.once('end', () => reject(new Error('Connection terminated')));
  });
}
