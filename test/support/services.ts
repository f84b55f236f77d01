import { describe } from '@jest/globals';

/** The PostgreSQL server that the tests may use; undefined: they run on the embedded database. */
export const databaseServer = process.env['DATABASE_URL'];
/** The Redis server that the tests may use. */
export const redisServer = process.env['REDIS_URL'];

/** For behaviour that the embedded database cannot show: it has one session, and its folder serves one gateway. */
export const onServer = databaseServer === undefined ? describe.skip : describe;
/** For counts that gateways share, which only Redis provides. */
export const onRedis = redisServer === undefined ? describe.skip : describe;
/** For tests that need both. */
export const onServers = databaseServer === undefined || redisServer === undefined ? describe.skip : describe;
