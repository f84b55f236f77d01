import { stringOrUndefined } from '../../common/json/read.js';
import type { JwtValidationFields } from '../../identity/config/identity-config.js';
import { foldHeaderName } from '../../identity/headers/header-names.js';
import type { MappedTargets } from '../../secret-references/mapped-resource/mapped-targets.js';
import { givenAddress, type SecretDestination } from '../../secret-references/secret-destination.js';
import type { Fields, SealedConfig } from '../../secret-references/mapped-resource/sealed-config.js';

/** The gateway's secret for the introspection of opaque tokens at the identity provider. */
export const CLIENT_SECRET = 'jwt_validation.introspection.client_secret';
const ENDPOINT = 'jwt_validation.introspection.endpoint';
const URL_FIELD = 'url';
const HEADER = 'headers.';

/** Headers are sent to the server itself, the client secret to the identity provider. */
export const MCP_SERVER_CONFIG: SealedConfig = {
  has: isSecret,
  expected: `must be ${HEADER}<name of a header> or ${CLIENT_SECRET}`,
  isSecret,
  hostFieldOf: (secret) => (secret === CLIENT_SECRET ? ENDPOINT : URL_FIELD),
  // Servers take `X-Key` and `x_key` for the same header.
  fold: (field) => (field.startsWith(HEADER) ? HEADER + foldHeaderName(field.slice(HEADER.length)) : field),
};

/** The parts of a server's settings that are secrets, or addresses of secrets. */
export interface SecretSettings {
  readonly url?: string | undefined;
  readonly headers?: Readonly<Record<string, unknown>> | undefined;
  readonly jwt_validation?: JwtValidationFields | null | undefined;
}

export function toFields({ url, headers = {}, jwt_validation: validation }: SecretSettings): Fields {
  const { endpoint, client_secret: secret } = validation?.introspection ?? {};
  return new Map<string, unknown>([
    ...(url === undefined ? [] : [[URL_FIELD, url] as const]),
    ...Object.entries(headers).map(([name, value]) => [HEADER + name, value] as const),
    ...(endpoint === undefined ? [] : [[ENDPOINT, endpoint] as const]),
    ...(secret === undefined ? [] : [[CLIENT_SECRET, secret] as const]),
  ]);
}

/** The destination of a mapped field's value. */
export function destinationOf(
  field: string,
  { url, endpoint }: { readonly url: string; readonly endpoint: string | undefined },
): SecretDestination {
  const address = field === CLIENT_SECRET ? endpoint : url;
  return { provider: undefined, url: givenAddress(address), isOwnAddress: false };
}

export function headersIn(fields: Fields): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    [...fields].flatMap(([field, value]) => {
      const name = headerOf(field);
      return name === undefined ? [] : [[name, value]];
    }),
  );
}

export function clientSecretIn(fields: Fields): string | undefined {
  return stringOrUndefined(fields.get(CLIENT_SECRET));
}

/** Names of the headers among the mapped fields. */
export function mappedHeaderNames(targets: MappedTargets): readonly string[] {
  return [...targets.keys()].flatMap((field) => headerOf(field) ?? []);
}

/** The name of a header field; undefined for other fields. */
export function headerOf(field: string): string | undefined {
  return field.startsWith(HEADER) ? field.slice(HEADER.length) : undefined;
}

/** `jwt_validation` as it is stored: its secret is sealed in another column. */
export type StoredJwtValidation = Omit<JwtValidationFields, 'introspection'> & {
  readonly introspection?: Omit<NonNullable<JwtValidationFields['introspection']>, 'client_secret'>;
};

export function withoutSecret({ introspection, ...others }: JwtValidationFields): StoredJwtValidation {
  if (introspection === undefined) return others;
  const { client_secret: _sealed, ...rest } = introspection;
  return { ...others, introspection: rest };
}

/** @param secret undefined when it comes from a secret reference */
export function withSecret(validation: JwtValidationFields, secret: string | undefined): JwtValidationFields {
  const { introspection, ...others } = withoutSecret(validation);
  if (introspection === undefined) return others;
  return {
    ...others,
    introspection: secret === undefined ? introspection : { ...introspection, client_secret: secret },
  };
}

function isSecret(field: string): boolean {
  return field === CLIENT_SECRET || headerOf(field) !== undefined;
}
