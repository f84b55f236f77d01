import { DataSource, type QueryRunner } from 'typeorm';
import type { TollgateDataSource } from '../../database/tollgate-data-source.js';

/** What happens to the next statements: the database does the work, but nobody hears of it; or it never hears of them. */
export type Breakage = 'answer lost' | 'refused' | 'silent';

export class BreakableDatabase {
  /** In order, one a statement; then all is well. */
  readonly breakages: Breakage[] = [];
  statements = 0;
  readonly dataSource: DataSource;

  constructor(real: TollgateDataSource) {
    this.dataSource = new Proxy(real, {
      get: (target, name) =>
        name === 'createQueryRunner'
          ? () => this.runner(target.createQueryRunner())
          : Reflect.get(target, name, target),
    });
  }

  private runner(real: QueryRunner): QueryRunner {
    const query = async (sql: string, parameters: unknown[]): Promise<unknown> => {
      this.statements += 1;
      const breakage = this.breakages.shift();
      if (breakage === 'refused') throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
      if (breakage === 'silent') return untilClosed(await real.connect());
      const answer: unknown = await real.query(sql, parameters);
      if (breakage === 'answer lost') throw new Error('Connection terminated unexpectedly');
      return answer;
    };
    return new Proxy(real, {
      get: (target, name) => {
        if (name === 'query') return query;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  }
}

function untilClosed(connection: NodeJS.EventEmitter): Promise<never> {
  return new Promise((_, reject) => {
    connection.once('end', () => reject(new Error('Connection terminated')));
  });
}
