import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { GatewayError } from '../common/errors/gateway.error.js';
import { RedisConnection } from '../redis/redis-connection.js';

@Injectable()
export class ReadinessService {
  private draining = false;

  constructor(
    private readonly dataSource: DataSource,
    private readonly redis: RedisConnection,
  ) {}

  /** From now on not ready: the platform should send no more requests here. */
  startDraining(): void {
    this.draining = true;
  }

  /** @throws GatewayError `store_unavailable` that names what is missing in the log */
  async assertReady(): Promise<void> {
    if (this.draining)
      throw new GatewayError('store_unavailable', { message: 'The gateway is stopping.', reason: 'draining' });
    await this.dataSource.query('SELECT 1');
    if (!(await this.redis.isReady())) throw new GatewayError('store_unavailable', { reason: 'redis' });
  }
}
