import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditModule } from '../audit/audit.module.js';
import { AppConfig } from '../config/environment.js';
import { SigningKeys } from '../identity/jwt/signing-keys.js';
import { UpstreamModule } from '../upstream/upstream.module.js';
import { WorkspacesModule } from '../workspaces/workspaces.module.js';
import { McpServerToolsController } from './servers/mcp-server-tools.controller.js';
import { McpServerToolsService } from './servers/mcp-server-tools.service.js';
import { McpServerDefinitions } from './servers/mcp-server.definitions.js';
import { McpServerDirectory } from './servers/mcp-server.directory.js';
import { McpServer } from './servers/mcp-server.entity.js';
import { McpServerStore } from './servers/mcp-server.store.js';
import { McpServerTool } from './servers/mcp-server-tool.entity.js';
import { McpServerTools } from './servers/mcp-server.tools.js';
import { McpServerVault } from './servers/mcp-server.vault.js';
import { McpServersController } from './servers/mcp-servers.controller.js';
import { McpServersService } from './servers/mcp-servers.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([McpServer, McpServerTool]), AuditModule, WorkspacesModule, UpstreamModule],
  controllers: [McpServersController, McpServerToolsController],
  providers: [
    {
      provide: SigningKeys,
      inject: [AppConfig],
      useFactory: (config: AppConfig): SigningKeys => new SigningKeys(config),
    },
    McpServerDefinitions,
    McpServerDirectory,
    McpServerStore,
    McpServerTools,
    McpServerToolsService,
    McpServerVault,
    McpServersService,
  ],
})
export class McpModule {}
