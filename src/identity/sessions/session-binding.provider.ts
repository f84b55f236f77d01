import type { Provider } from '@nestjs/common';
import { AppConfig } from '../../config/environment.js';
import { ServerSecrets } from '../../sealing/server-secrets.js';
import { SessionBinding } from './session-binding.js';

const SECRET_NAME = 'mcp_session_binding';

/** The configured secrets, then the database's own: setting a secret for the first time ends no session. */
export const sessionBindingProvider: Provider<SessionBinding> = {
  provide: SessionBinding,
  inject: [AppConfig, ServerSecrets],
  useFactory: async (config: AppConfig, secrets: ServerSecrets): Promise<SessionBinding> => {
    const own = await secrets.getOrCreate(SECRET_NAME);
    const [first, ...others] = config.MCP_SESSION_SECRETS.map((text) => Buffer.from(text));
    return new SessionBinding(first === undefined ? [own] : [first, ...others, own]);
  },
};
