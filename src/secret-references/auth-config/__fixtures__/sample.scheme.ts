import { IsIn, IsString, Length } from 'class-validator';
import { Optional } from '../../../common/validation/optional.decorator.js';
import { EgressPolicy } from '../../../upstream/egress/egress-policy.js';
import type { AuthRules, AuthScheme } from '../auth-scheme.types.js';

class SampleToken {
  @IsIn(['token'])
  readonly vendorC_auth_type: 'token';

  @IsString()
  readonly vendorC_addr: string;

  @Length(4, 64)
  readonly vendorC_token: string;

  @Optional()
  @Length(4, 64, { message: 'is not of the right length' })
  readonly vendorC_session?: string;
}

class SampleRole {
  @IsIn(['role'])
  readonly vendorC_auth_type: 'role';

  @IsString()
  readonly vendorC_addr: string;

  @IsString()
  readonly vendorC_role: string;
}

/** A small manager: one kind of credentials with secrets, one with a field that the gateway makes. */
export const sampleScheme: AuthScheme = {
  manager: 'vendorC_vault',
  names: {
    interface: { managerType: 'vendorC_vault', prefix: 'vendorC_' },
    vendor: { managerType: 'hashicorp_vault', prefix: 'vault_' },
  },
  discriminator: 'vendorC_auth_type',
  hostField: 'vendorC_addr',
  variants: { token: SampleToken, role: SampleRole },
  sensitive: new Set(['vendorC_token', 'vendorC_session']),
  generated: { variant: 'role', field: 'vendorC_external' },
  problems: (config, { path, version }) => [
    ...(config['vendorC_addr'] === 'https://no.example'
      ? [
          {
            param: 'auth_config.vendorC_addr',
            message: 'auth_config.vendorC_addr must suit vendorC_role, vendorC_unknown',
          },
        ]
      : []),
    ...(path === 'bad' ? [{ param: 'secret_path', message: `secret_path must not be bad (${version})` }] : []),
  ],
  identityTarget: () => undefined,
};

export const SAMPLE_RULES: AuthRules = { egress: new EgressPolicy([]), azureVaultHosts: [] };
