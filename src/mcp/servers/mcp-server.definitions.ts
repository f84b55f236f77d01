import { Injectable } from '@nestjs/common';
import { isObject, stringOrUndefined } from '../../common/json/read.js';
import { mask } from '../../common/mask.js';
import { AppConfig } from '../../config/environment.js';
import { resourceAt } from '../../identity/authenticators/protected-resource.js';
import { SigningKeys } from '../../identity/jwt/signing-keys.js';
import { decryptOr, openObject, sealObject } from '../../sealing/decrypted.js';
import { placeIn, Sealer } from '../../sealing/sealer.js';
import { type MappedTargets, targetsAfter } from '../../secret-references/mapped-resource/mapped-targets.js';
import { MappedValues } from '../../secret-references/mapped-resource/mapped-values.js';
import { assertSameHosts, maskAll } from '../../secret-references/mapped-resource/sealed-config.js';
import { EgressPolicy } from '../../upstream/egress/egress-policy.js';
import { checkMcpServer, type McpServerRules, rulesForChange } from './check-mcp-server.js';
import type { CreateMcpServerDto, UpdateMcpServerDto } from './dto/mcp-server.dto.js';
import {
  mappedSecrets,
  type McpServerSurroundings,
  toUsableMcpServer,
  type UsableMcpServer,
} from './usable-mcp-server.js';
import { audienceDigest } from './mcp-server.audience.js';
import type { McpServer } from './mcp-server.entity.js';
import { destinationOf, MCP_SERVER_CONFIG, toFields, withoutSecret, withSecret } from './mcp-server.fields.js';
import { type StoredMcpServerResponse, toMcpServerResponse } from './mcp-server.response.js';
import {
  assertSecretsReplaced,
  changedSettings,
  givenFields,
  isSameSettings,
  type McpServerSecrets,
  newSettings,
  type OpenSettings,
  openSettings,
} from './mcp-server.settings.js';

/** The columns that hold a server's settings. */
export type SettingsColumns = Pick<
  McpServer,
  | 'url'
  | 'transport'
  | 'authType'
  | 'sealedSecrets'
  | 'userIdentityForwarding'
  | 'audienceDigest'
  | 'jwtValidation'
  | 'forwardHeaders'
  | 'allowedOrigins'
  | 'timeouts'
  | 'enabled'
>;

type SealableRow = Pick<McpServer, 'id' | 'organisationId'>;

/** For tests and previews, which have no caller. */
const NO_CALLERS: McpServerSurroundings = { defaultMetadata: {}, disabledTools: new Set(), acceptedTools: undefined };

const NO_SECRETS: McpServerSecrets = { headers: {} };

/** Shown in place of a secret that does not decrypt. */
const UNREADABLE: McpServerSecrets = { headers: {}, introspectionClientSecret: '' };

const secretsPlace = placeIn('mcp_servers', 'sealed_secrets');

/** The configuration of servers: validated on input, sealed at rest, masked in responses, opened for use. */
@Injectable()
export class McpServerDefinitions {
  constructor(
    private readonly sealer: Sealer,
    private readonly egress: EgressPolicy,
    private readonly keys: SigningKeys,
    private readonly config: AppConfig,
    private readonly values: MappedValues,
  ) {}

  get rules(): McpServerRules {
    return { egress: this.egress, canSign: this.keys.current !== undefined };
  }

  /** @throws GatewayError `validation_failed` */
  columnsOfNew(row: SealableRow, dto: CreateMcpServerDto): SettingsColumns {
    const settings = newSettings(dto, this.readTargets(dto));
    checkMcpServer(settings, this.rules);
    return this.toColumns(row, settings);
  }

  /** @throws GatewayError `validation_failed` for mappings to fields that servers do not have, or that are given as well */
  readTargets(dto: Pick<CreateMcpServerDto, 'headers' | 'jwt_validation' | 'secret_mappings'>): MappedTargets {
    return targetsAfter(MCP_SERVER_CONFIG, [], dto.secret_mappings ?? [], givenFields(dto));
  }

  /**
   * The columns that an update changes.
   * @throws GatewayError `validation_failed`, also when a secret would reach another host than it was stored for;
   * `secret_unavailable` when the update leaves out stored secrets that do not decrypt
   */
  changedColumns(row: McpServer, dto: UpdateMcpServerDto): Partial<SettingsColumns> {
    const wanted = dto.secret_mappings;
    const mapped = targetsAfter(MCP_SERVER_CONFIG, row.secretMappings, wanted, givenFields(dto));
    const { value: secrets, failure } = decryptOr(() => this.openSecrets(row), NO_SECRETS);
    const before = openSettings(row, secrets);
    const { settings: after, kept } = changedSettings(before, dto, mapped);
    if (failure !== undefined) assertSecretsReplaced(failure, before, after, dto);
    else if (isSameSettings(before, after)) return {};
    checkMcpServer(after, rulesForChange(this.rules, before));
    const keptMappings = wanted === undefined ? mapped.keys() : [];
    assertSameHosts(MCP_SERVER_CONFIG, { before: toFields(before), after: toFields(after), kept, keptMappings });
    return this.toColumns(row, after);
  }

  /**
   * Opens a server for use, with the secret references of its mapped fields, whose values are read when they are needed.
   * @throws GatewayError `secret_unavailable`
   */
  async openForUse(row: McpServer, surroundings = NO_CALLERS): Promise<UsableMcpServer> {
    const { secretMappings } = row;
    const mappings = secretMappings.length === 0 ? [] : await this.values.load(row, secretMappings);
    const settings = openSettings(row, this.openSecrets(row));
    const addresses = { url: settings.url, endpoint: settings.jwt_validation?.introspection?.endpoint };
    this.values.assertDestinations(mappings, (field) => destinationOf(field, addresses));
    return toUsableMcpServer(row, settings, surroundings, mappedSecrets(this.values, mappings));
  }

  /** Calls back when servers that were opened before must not be used any more. */
  onChange(listener: () => void): void {
    this.values.onChange(listener);
  }

  /** @param show the text that replaces a secret in a response */
  toResponse(row: McpServer, show = mask): StoredMcpServerResponse {
    // A secret that does not decrypt must not hide its server, nor the whole list.
    const secrets = decryptOr(() => this.openSecrets(row), UNREADABLE).value;
    const { jwtValidation } = row;
    const { introspectionClientSecret: clientSecret } = secrets;
    return toMcpServerResponse(row, {
      mcpUrl: this.addressOf(row.slug),
      headers: maskAll(secrets.headers, show),
      jwtValidation:
        jwtValidation && withSecret(jwtValidation, clientSecret === undefined ? undefined : show(clientSecret)),
    });
  }

  /** The address to which clients connect. */
  addressOf(slug: string): string {
    return resourceAt(`/${slug}/mcp`, this.config);
  }

  private toColumns(row: SealableRow, settings: OpenSettings): SettingsColumns {
    const { jwt_validation: validation } = settings;
    const headers = Object.fromEntries(Object.entries(settings.headers).map(([name, value]) => [name, String(value)]));
    const introspectionClientSecret = validation?.introspection?.client_secret;
    const isEmpty = Object.keys(headers).length === 0 && introspectionClientSecret === undefined;
    const secrets = isEmpty ? {} : { headers, introspectionClientSecret };
    return {
      url: settings.url,
      transport: settings.transport,
      authType: settings.authType,
      sealedSecrets: sealObject(this.sealer, secrets, secretsPlace(row)),
      userIdentityForwarding: settings.user_identity_forwarding ?? null,
      audienceDigest: audienceDigest(settings.user_identity_forwarding, settings.url),
      jwtValidation: validation ? withoutSecret(validation) : null,
      forwardHeaders: settings.forward_headers ?? null,
      allowedOrigins: [...settings.allowedOrigins],
      timeouts: settings.timeouts,
      enabled: settings.enabled,
    };
  }

  private openSecrets(row: McpServer): McpServerSecrets {
    const stored = openObject(this.sealer, row.sealedSecrets, secretsPlace(row));
    const headers = Object.entries(isObject(stored['headers']) ? stored['headers'] : {});
    return {
      headers: Object.fromEntries(headers.map(([name, value]) => [name, String(value)])),
      introspectionClientSecret: stringOrUndefined(stored['introspectionClientSecret']),
    };
  }
}
