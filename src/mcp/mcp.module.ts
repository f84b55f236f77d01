import { Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditModule } from '../audit/audit.module.js';
import { describeDefect } from '../common/errors/describe-error.js';
import { AppConfig } from '../config/environment.js';
import { IdentityModule } from '../identity/identity.module.js';
import { SecretReferencesModule } from '../secret-references/secret-references.module.js';
import { LOGGER, type Logger } from '../telemetry/logger.js';
import { EgressPolicy } from '../upstream/egress/egress-policy.js';
import { UpstreamModule } from '../upstream/upstream.module.js';
import { UsageModule } from '../usage/usage.module.js';
import { WebhooksModule } from '../webhooks/webhooks.module.js';
import { WorkspacesModule } from '../workspaces/workspaces.module.js';
import { McpCallLog } from './calls/mcp-call-log.js';
import { McpCall } from './calls/mcp-call.entity.js';
import { McpCallHistory } from './calls/mcp-call.history.js';
import { McpCallsController } from './calls/mcp-calls.controller.js';
import { McpLastCalls } from './calls/mcp-last-calls.js';
import { McpCallRecorder } from './calls/mcp-call.recorder.js';
import { McpCallRetention } from './calls/mcp-call.retention.js';
import { McpCallStore } from './calls/mcp-call.store.js';
import { McpAdmission } from './endpoints/mcp-admission.js';
import { McpAnswerHooks } from './endpoints/mcp-answer-hooks.js';
import { McpForwarder } from './endpoints/mcp-forwarder.js';
import { McpLoginController } from './endpoints/mcp-login.controller.js';
import { McpMetadataController } from './endpoints/mcp-metadata.controller.js';
import { McpOutbound } from './endpoints/mcp-outbound.js';
import { McpController } from './endpoints/mcp.controller.js';
import { OpenStreams } from './endpoints/open-streams.js';
import { McpToolAccess } from './endpoints/tool-access.js';
import { HeldTools } from './inspection/held-tools.js';
import { ToolListWatch } from './inspection/tool-list-watch.js';
import { SessionAnswers } from './legacy/session-answers.js';
import { McpProxy } from './proxy/mcp-proxy.js';
import { McpServerToolsService } from './servers/mcp-server-tools.service.js';
import { McpServerDefinitions } from './servers/mcp-server.definitions.js';
import { McpServerDirectory } from './servers/mcp-server.directory.js';
import { McpServer } from './servers/mcp-server.entity.js';
import { McpServerTrial } from './servers/mcp-server.trial.js';
import { McpServerPreview } from './servers/mcp-server.preview.js';
import { McpProbeClient } from './probe/probe-client.js';
import { McpServerProbe } from './servers/mcp-server.probe.js';
import { McpServerStore } from './servers/mcp-server.store.js';
import { McpServerTool } from './servers/mcp-server-tool.entity.js';
import { McpServerToolStore } from './servers/mcp-server-tool.store.js';
import {
  McpServersController,
  McpServerTestsController,
  McpServerToolsController,
} from './servers/mcp-servers.controller.js';
import { McpToolCallsController } from './tool-calls/mcp-tool-calls.controller.js';
import { McpToolCallOpener } from './tool-calls/mcp-tool-call.opener.js';
import { McpToolCallsService } from './tool-calls/mcp-tool-calls.service.js';
import { McpToolSender } from './tool-calls/mcp-tool.sender.js';
import { McpToolNotices } from './servers/mcp-tool-notices.js';
import { McpServersService } from './servers/mcp-servers.service.js';

@Module({
  imports: [
    TypeOrmModule.forFeature([McpServer, McpServerTool, McpCall]),
    AuditModule,
    WorkspacesModule,
    SecretReferencesModule,
    UpstreamModule,
    IdentityModule,
    UsageModule,
    WebhooksModule,
  ],
  controllers: [
    McpServersController,
    McpServerToolsController,
    McpServerTestsController,
    McpToolCallsController,
    McpCallsController,
    McpMetadataController,
    McpLoginController,
    McpController,
  ],
  providers: [
    McpServerDefinitions,
    McpServerDirectory,
    McpServerPreview,
    McpServerTrial,
    McpProbeClient,
    McpServerProbe,
    McpServerStore,
    McpServerToolStore,
    McpServerToolsService,
    McpToolNotices,
    McpServersService,
    McpCallHistory,
    McpLastCalls,
    McpCallLog,
    McpCallRecorder,
    McpCallRetention,
    McpCallStore,
    McpAnswerHooks,
    McpAdmission,
    McpForwarder,
    McpOutbound,
    OpenStreams,
    ToolListWatch,
    HeldTools,
    SessionAnswers,
    McpToolAccess,
    McpToolCallOpener,
    McpToolCallsService,
    McpToolSender,
    {
      provide: McpProxy,
      inject: [EgressPolicy, AppConfig],
      useFactory: (egress: EgressPolicy, config: AppConfig): McpProxy =>
        new McpProxy(egress, {
          streamsPerCaller: config.MCP_STREAMS_PER_CALLER,
          callsPerCaller: config.MCP_CALLS_PER_CALLER,
        }),
    },
  ],
})
export class McpModule implements OnApplicationShutdown {
  constructor(
    @Inject(McpProxy) private readonly proxy: Pick<McpProxy, 'close'>,
    @Inject(McpCallRecorder) private readonly calls: Pick<McpCallRecorder, 'close'>,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Never rejects: what Nest closes later, the database for one, would stay open. */
  async onApplicationShutdown(): Promise<void> {
    await this.proxy
      .close(0)
      .catch((cause: unknown) => this.logger.error({ event: 'mcp_close_failed', error: describeDefect(cause) }));
    // After the proxy, since calls that were cut off have rows as well.
    await this.calls.close();
  }
}
