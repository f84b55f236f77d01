import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsInt, IsString, IsUrl, Length, Max, Min } from 'class-validator';
import { SIGNATURE_ALGORITHMS, type SignatureAlgorithm } from '../../common/crypto/signature-algorithms.js';
import { Items, Nested } from '../../common/validation/bounded-fields.js';
import { IsStorable } from '../../common/validation/is-storable.decorator.js';
import { Optional } from '../../common/validation/optional.decorator.js';
import { type IntrospectionFields, type JwtValidationFields } from './identity-config.js';
import { IsClaimValues, IsTextOrTexts } from './text-or-texts.decorator.js';

const WEB_ADDRESS = { protocols: ['http', 'https'], require_protocol: true, require_tld: false };
const MAX_CLAIMS = 64;
/** More than there are. */
const MAX_ALGORITHMS = 20;

/** Asks the provider about tokens that are not JWTs (RFC 7662). */
export class IntrospectionDto implements IntrospectionFields {
  /** The introspection endpoint of the identity provider (RFC 7662). */
  @IsUrl(WEB_ADDRESS)
  @IsStorable()
  readonly endpoint: string;

  /** The id of the gateway at the identity provider. */
  @IsString()
  @Length(1, 255)
  @IsStorable()
  readonly client_id: string;

  /** Required, unless it comes from a secret reference. */
  @Optional()
  @IsString()
  @Length(1, 1024)
  @IsStorable()
  readonly client_secret?: string;

  /** How long an answer is cached; default 30. */
  @Optional()
  @IsInt()
  @Min(0)
  @Max(300)
  readonly cache_seconds?: number;
}

/**
 * How tokens of the company's identity provider are validated. `jwksUri` and `requiredClaims` may be spelled `jwks_uri` and
 * `required_claims`. Rules between the fields: identity-config.checks.ts.
 */
export class JwtValidationDto implements JwtValidationFields {
  /** Where the provider publishes its keys. Required without `introspection`. */
  @Optional()
  @IsUrl(WEB_ADDRESS)
  @IsStorable()
  readonly jwksUri?: string;

  /** Another spelling of `jwksUri`. */
  @Optional()
  @IsUrl(WEB_ADDRESS)
  @IsStorable()
  readonly jwks_uri?: string;

  /** Claims that must be present, and neither null nor empty. */
  @Optional()
  @Items({ max: MAX_CLAIMS })
  @IsString({ each: true })
  @Length(1, 255, { each: true })
  @IsStorable()
  readonly requiredClaims?: string[];

  /** Another spelling of `requiredClaims`. */
  @Optional()
  @Items({ max: MAX_CLAIMS })
  @IsString({ each: true })
  @Length(1, 255, { each: true })
  @IsStorable()
  readonly required_claims?: string[];

  /** Expected `iss`. Without it, every issuer that shares the keys is trusted. */
  @Optional()
  @IsString()
  @Length(1, 2048)
  @IsStorable()
  readonly issuer?: string;

  /** Accepted values of `aud`. Without it, tokens for every application of the provider are accepted. */
  @Optional()
  @ApiProperty({ oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] })
  @IsTextOrTexts()
  readonly audience?: string | string[];

  /** Default: RS256. Ed25519 is the name in RFC 9864 for the algorithm that many providers call EdDSA. */
  @Optional()
  @Items({ min: 1, max: MAX_ALGORITHMS })
  @IsIn(SIGNATURE_ALGORITHMS, { each: true })
  readonly algorithms?: SignatureAlgorithm[];

  /** Tolerated difference between the clocks; default 5. */
  @Optional()
  @IsInt()
  @Min(0)
  @Max(60)
  readonly clock_tolerance_seconds?: number;

  /** Header of the user's token; default `Authorization`. */
  @Optional()
  @IsString()
  @Length(1, 128)
  readonly header_key?: string;

  /**
   * Claims that must have one of the named values. One item of a list, or one word of `scope`, must match.
   * @example {"groups": ["mcp-users", "admins"]}
   */
  @Optional()
  @ApiProperty({ type: 'object', additionalProperties: true })
  @IsClaimValues()
  readonly claim_values?: Record<string, string | string[]>;

  /** Every caller needs a token of this provider: a gateway key alone is 401. Default: false. */
  @Optional()
  @IsBoolean()
  readonly required?: boolean;

  /**
   * The metadata of the server name `issuer` to everyone, so that a client without a key finds out where to log in. Anyone who
   * guesses the name of the server then learns that it exists. Default: false.
   */
  @Optional()
  @IsBoolean()
  readonly advertise_issuer?: boolean;

  /** Ask the identity provider about tokens, instead of or besides checking signatures. */
  @Optional()
  @Nested(() => IntrospectionDto)
  readonly introspection?: IntrospectionDto;
}
