import { describe } from '@jest/globals';

/** The PostgreSQL server that the tests may use; undefined: they run on the embedded database. */
export const databaseServer = process.env['DATABASE_URL'];
/** The Redis server that the tests may use. */
export const redisServer = process.env['REDIS_URL'];

/** For what the embedded database cannot show: it has one session, and its folder one gateway. */
export const onServer = databaseServer === undefined ? describe.skip : describe;
/** For what gateways count together, which they do in Redis alone. */
export const onRedis = redisServer === undefined ? describe.skip : describe;
/** For what needs both. */
export const onServers = databaseServer === undefined || redisServer === undefined ? describe.skip : describe;
