import { GatewayClient } from './gateway-client.js';
import { startTestApp, type TestApp } from './test-app.js';
import { startUsageGateway, type UsageGateway } from './usage-gateway.js';

const LIMIT = { type: 'requests', unit: 'rph', value: 3 };

/** Two gateways on one database and one Redis. */
export class GatewayPair {
  private constructor(
    readonly gateway: UsageGateway,
    private readonly replica: TestApp,
  ) {}

  /** @param settings of the Redis to use */
  static async start(settings: Readonly<Record<string, string>>): Promise<GatewayPair> {
    const gateway = await startUsageGateway(settings);
    return new GatewayPair(gateway, await startTestApp(settings, true));
  }

  /** Statuses of calls with a new key, limited to three per hour, to both gateways in turn. */
  async statusesInTurns(calls: number): Promise<readonly number[]> {
    const { key, client } = await this.gateway.admin.createKey({ scopes: ['api_keys.list'], rate_limits: [LIMIT] });
    const elsewhere = new GatewayClient(this.replica.url).as(key);
    const statuses: number[] = [];
    for (let call = 0; call < calls; call += 1) {
      statuses.push((await (call % 2 === 0 ? client : elsewhere).get('/v1/api-keys')).status);
    }
    return statuses;
  }

  /** Whether both gateways are ready. */
  async isReady(): Promise<boolean> {
    const { admin } = this.gateway;
    const answers = await Promise.all(
      [admin, new GatewayClient(this.replica.url)].map((one) => one.get('/health/ready')),
    );
    return answers.every(({ status }) => status === 200);
  }

  async close(): Promise<void> {
    await this.replica.close();
    await this.gateway.close();
  }
}
