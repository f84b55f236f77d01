import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditModule } from '../audit/audit.module.js';
import { SecretReferencesModule } from '../secret-references/secret-references.module.js';
import { UpstreamModule } from '../upstream/upstream.module.js';
import { WorkspacesModule } from '../workspaces/workspaces.module.js';
import { VirtualKeyCache } from './virtual-key.cache.js';
import { CredentialRefusals } from './credential-refusals.js';
import { WebhooksModule } from '../webhooks/webhooks.module.js';
import { VirtualKeyCredentials } from './virtual-key.credentials.js';
import { VirtualKey } from './virtual-key.entity.js';
import { VirtualKeyProbe } from './virtual-key.probe.js';
import { VirtualKeyStore } from './virtual-key.store.js';
import { VirtualKeysController } from './virtual-keys.controller.js';
import { VirtualKeysService } from './virtual-keys.service.js';

@Module({
  imports: [
    TypeOrmModule.forFeature([VirtualKey]),
    AuditModule,
    UpstreamModule,
    WorkspacesModule,
    SecretReferencesModule,
    WebhooksModule,
  ],
  controllers: [VirtualKeysController],
  providers: [
    CredentialRefusals,
    VirtualKeyCache,
    VirtualKeyCredentials,
    VirtualKeyProbe,
    VirtualKeyStore,
    VirtualKeysService,
  ],
  exports: [VirtualKeyCache, VirtualKeyStore, VirtualKeysService],
})
export class VirtualKeysModule {}
