import { assertScope } from '../access/assert-scope.js';
import type { Principal } from '../access/principal.js';
import type { SecretMappingDto } from './dto/secret-mapping.dto.js';

interface Body {
  readonly secret_mappings?: readonly SecretMappingDto[] | null | undefined;
}

/**
 * Whoever maps a secret decides where it is sent: for that, the scope of the resource is not enough.
 * @throws GatewayError `permission_denied`
 */
export function assertMayMap(principal: Principal, { secret_mappings: mappings }: Body): void {
  if (mappings !== undefined && mappings !== null && mappings.length > 0)
    assertScope(principal, 'secret_references.read');
}
