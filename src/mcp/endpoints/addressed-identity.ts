import type { McpServerIdentity } from '../../identity/config/identity-config.js';

/**
 * What the identity room knows of a server, at one address. The address is made when it is asked for: a caller with a key has no
 * use for it. In a class, since with a getter in an object literal, V8 keeps the object in its slow form (a dictionary).
 */
export class AddressedIdentity implements McpServerIdentity {
  readonly id: McpServerIdentity['id'];
  readonly organisationId: McpServerIdentity['organisationId'];
  readonly workspaceId: McpServerIdentity['workspaceId'];
  readonly userIdentityForwarding: McpServerIdentity['userIdentityForwarding'];
  readonly jwtValidation: McpServerIdentity['jwtValidation'];
  readonly forwardHeaders: McpServerIdentity['forwardHeaders'];

  constructor(
    identity: Omit<McpServerIdentity, 'resource'>,
    private readonly address: () => string,
  ) {
    this.id = identity.id;
    this.organisationId = identity.organisationId;
    this.workspaceId = identity.workspaceId;
    this.userIdentityForwarding = identity.userIdentityForwarding;
    this.jwtValidation = identity.jwtValidation;
    this.forwardHeaders = identity.forwardHeaders;
  }

  get resource(): string {
    return this.address();
  }
}
