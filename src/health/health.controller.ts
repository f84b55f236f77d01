import { Controller, Get } from '@nestjs/common';
import { ApiExcludeController, ApiTags } from '@nestjs/swagger';
import { Public } from '../access/route-access.decorators.js';
import { MayFail } from '../common/errors/may-fail.decorator.js';
import { HealthResponse } from './health.response.js';
import { ReadinessService } from './readiness.service.js';

@ApiTags('Health')
@Controller('health')
@Public('probes of the platform have no key')
export class HealthController {
  constructor(private readonly readiness: ReadinessService) {}

  /** Checks that the process is running. */
  @Get('live')
  checkLiveness(): HealthResponse {
    return { status: 'ok' };
  }

  /** Checks that the gateway can serve: the database accepts writes, and Redis answers where it is configured. */
  @Get('ready')
  @MayFail('store_unavailable', 'draining')
  async checkReadiness(): Promise<HealthResponse> {
    await this.readiness.assertReady();
    return { status: 'ok' };
  }
}

/** Clients look here to see whether there is a server at all. */
@ApiExcludeController()
@Controller()
@Public('clients probe an address before they send a key')
export class RootController {
  @Get()
  describe(): { readonly object: string; readonly name: string } {
    return { object: 'gateway', name: 'Tollgate' };
  }
}
