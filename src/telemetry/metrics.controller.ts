import { Controller, Get, Header, Res, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Response } from 'express';
import { Public } from '../access/route-access.decorators.js';
import { MetricsGuard } from './metrics.guard.js';
import { Metrics } from './metrics.js';

@ApiExcludeController()
@Controller('metrics')
@Public('labels hold no tenant data; METRICS_TOKEN and METRICS_PORT close it')
@UseGuards(MetricsGuard)
export class MetricsController {
  constructor(private readonly metrics: Metrics) {}

  @Get()
  @Header('cache-control', 'no-store')
  async read(@Res() response: Response): Promise<void> {
    response.type(this.metrics.registry.contentType).send(await this.metrics.registry.metrics());
  }
}
