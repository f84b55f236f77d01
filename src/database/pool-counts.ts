import type { DataSource } from 'typeorm';
import { isObject } from '../common/json/read.js';

/** How the connections to the database are taken: by pg's pool, which TypeORM keeps without a type. */
export function poolCounts({ driver }: DataSource): Readonly<Record<'in_use' | 'idle' | 'waiting', number>> {
  const pool: unknown = Reflect.get(driver, 'master');
  const [total, idle, waiting] = ['totalCount', 'idleCount', 'waitingCount'].map((name) => {
    const count: unknown = isObject(pool) ? Reflect.get(pool, name) : undefined;
    return typeof count === 'number' ? count : 0;
  });
  return { in_use: (total ?? 0) - (idle ?? 0), idle: idle ?? 0, waiting: waiting ?? 0 };
}
