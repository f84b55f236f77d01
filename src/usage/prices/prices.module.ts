import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditModule } from '../../audit/audit.module.js';
import { ModelCatalogueController } from '../models/model-catalogue.controller.js';
import { ModelCatalogueService } from '../models/model-catalogue.service.js';
import { EstimatedCosts } from './estimated-costs.js';
import { PriceCatalogue } from './price-catalogue.js';
import { PriceRow } from './price.entity.js';
import { PriceStore } from './price.store.js';
import { PricesController } from './prices.controller.js';
import { PricesService } from './prices.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([PriceRow]), AuditModule],
  controllers: [PricesController, ModelCatalogueController],
  providers: [PriceStore, PriceCatalogue, EstimatedCosts, PricesService, ModelCatalogueService],
  exports: [PriceCatalogue, EstimatedCosts],
})
export class PricesModule {}
