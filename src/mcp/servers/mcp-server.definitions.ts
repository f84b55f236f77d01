import { Injectable } from '@nestjs/common';
import { mask } from '../../common/mask.js';
import { AppConfig } from '../../config/environment.js';
import { resourceAt } from '../../identity/authenticators/protected-resource.js';
import { SigningKeys } from '../../identity/jwt/signing-keys.js';
import { EgressPolicy } from '../../upstream/egress/egress-policy.js';
import { type Decrypted, decryptOr } from '../../sealing/decrypted.js';
import { SecretValues } from '../../secret-references/secret-values.js';
import { checkMcpServer, type McpServerRules, rulesForChange } from './check-mcp-server.js';
import { withMaskedSecret, withoutSecret } from './jwt-validation.secret.js';
import { mappedSecrets } from './mapped-secrets.js';
import type { McpServer } from './mcp-server.entity.js';
import { type McpServerResponse, toMcpServerResponse } from './mcp-server.response.js';
import { type OpenSettings, openSettings } from './mcp-server.settings.js';
import { type McpServerSecrets, McpServerEncryptor } from './mcp-server.encryption.js';
import { type McpServerSurroundings, toUsableMcpServer, type UsableMcpServer } from './usable-mcp-server.js';

/** The columns that hold a server's settings. */
export type SettingsColumns = Pick<
  McpServer,
  | 'url'
  | 'transport'
  | 'authType'
  | 'sealedSecrets'
  | 'userIdentityForwarding'
  | 'jwtValidation'
  | 'forwardHeaders'
  | 'allowedOrigins'
  | 'timeouts'
  | 'enabled'
>;

/** Of a server that nobody calls: for tests and previews. */
const NO_CALLERS: McpServerSurroundings = { defaultMetadata: {}, disabledTools: new Set() };

const NO_SECRETS: McpServerSecrets = { headers: {} };

/** Shown in place of a secret that does not open. */
const UNREADABLE: McpServerSecrets = { headers: {}, introspectionClientSecret: '' };

/** What is configured for a server: checked on the way in, sealed at rest, masked on the way out. */
@Injectable()
export class McpServerDefinitions {
  constructor(
    private readonly vault: McpServerEncryptor,
    private readonly egress: EgressPolicy,
    private readonly keys: SigningKeys,
    private readonly config: AppConfig,
    private readonly values: SecretValues,
  ) {}

  get rules(): McpServerRules {
    return { egress: this.egress, canSign: this.keys.current !== undefined };
  }

  /**
   * @param before what is stored, when the settings are a change of it
   * @throws GatewayError `validation_failed`
   */
  toColumns(
    row: Pick<McpServer, 'id' | 'organisationId'>,
    settings: OpenSettings,
    before?: OpenSettings,
  ): SettingsColumns {
    checkMcpServer(settings, before === undefined ? this.rules : rulesForChange(this.rules, before));
    const { jwt_validation: validation, headers, ...others } = settings;
    const secrets = {
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
      introspectionClientSecret: validation?.introspection?.client_secret,
    };
    return {
      url: others.url,
      transport: others.transport,
      authType: others.authType,
      sealedSecrets: this.vault.seal(row, secrets),
      userIdentityForwarding: others.user_identity_forwarding ?? null,
      jwtValidation: validation ? withoutSecret(validation) : null,
      forwardHeaders: others.forward_headers ?? null,
      allowedOrigins: [...others.allowedOrigins],
      timeouts: others.timeouts,
      enabled: others.enabled,
    };
  }

  /** What is stored, for changes of it: without secrets when they do not open. */
  openForChange(row: McpServer): Decrypted<OpenSettings> {
    const { value, failure } = decryptOr(() => this.vault.open(row), NO_SECRETS);
    return { value: openSettings(row, value), failure };
  }

  /**
   * For use, with the secret references behind the mapped fields. Their values are read when they are needed.
   * @throws GatewayError `secret_unavailable`
   */
  async openForUse(row: McpServer, surroundings = NO_CALLERS): Promise<UsableMcpServer> {
    const { secretMappings } = row;
    const mappings = secretMappings.length === 0 ? [] : await this.values.load(row, secretMappings);
    const settings = openSettings(row, this.vault.open(row));
    return toUsableMcpServer(row, settings, surroundings, mappedSecrets(this.values, mappings));
  }

  /** Told when servers that were opened before must not be used any more. */
  onChange(listener: () => void): void {
    this.values.onChange(listener);
  }

  toResponse(row: McpServer): McpServerResponse {
    // Secrets that do not open must not hide the server that has them, nor the whole list.
    const secrets = decryptOr(() => this.vault.open(row), UNREADABLE).value;
    const { jwtValidation } = row;
    return toMcpServerResponse(row, {
      mcpUrl: this.addressOf(row.slug),
      headers: Object.fromEntries(Object.entries(secrets.headers).map(([name, value]) => [name, mask(value)])),
      jwtValidation: jwtValidation && withMaskedSecret(jwtValidation, secrets.introspectionClientSecret),
    });
  }

  /** Where clients reach a server. */
  addressOf(slug: string): string {
    return resourceAt(`/${slug}/mcp`, this.config);
  }
}
