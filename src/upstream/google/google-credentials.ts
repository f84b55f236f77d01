// Credentials of Google Cloud, as its tools write them into a file. Sources, read 2026-11-28:
// https://google.aip.dev/auth/4112 (key of a service account), https://google.aip.dev/auth/4117 (external account)
import type { KeyObject } from 'node:crypto';
import { readRsaPrivateKey } from '../../common/crypto/rsa-pem.js';
import {
  isObject,
  type JsonObject,
  parseForeignJson,
  readObject,
  readString,
  stringOrUndefined,
  UnexpectedShapeError,
} from '../../common/json/read.js';

export const MAX_CREDENTIALS_CHARACTERS = 16_384;

const MAX_HEADERS = 20;
const HEADER_NAME = /^[\w-]{1,64}$/;
const HEADER_VALUE = /^[\x20-\x7e]{1,4096}$/;
/** Headers that follow from the URL and the body. */
const OWN_HEADERS: ReadonlySet<string> = new Set(['host', 'content-length', 'transfer-encoding', 'connection']);
const MIN_LIFETIME_SECONDS = 600;
const MAX_LIFETIME_SECONDS = 43_200;
const LIFETIME_SECONDS = 3_600;

export interface ServiceAccount {
  readonly type: 'service_account';
  readonly email: string;
  readonly key: KeyObject;
  readonly keyId: string | undefined;
  readonly tokenUrl: URL;
}

/**
 * The source of the subject token. `field` names the JSON member with the token; without it, the whole text is the
 * token.
 */
export type SubjectTokenSource =
  | { readonly kind: 'file'; readonly path: string; readonly field: string | undefined }
  | {
      readonly kind: 'url';
      readonly url: URL;
      readonly headers: Readonly<Record<string, string>>;
      readonly field: string | undefined;
    }
  | { readonly kind: 'aws' };

/** An identity outside of Google Cloud, which a workload identity pool trusts. */
export interface ExternalAccount {
  readonly type: 'external_account';
  readonly audience: string;
  readonly subjectTokenType: string;
  readonly tokenUrl: URL;
  readonly source: SubjectTokenSource;
  /** The service account that the identity impersonates. */
  readonly impersonation: { readonly url: URL; readonly lifetimeSeconds: number } | undefined;
  readonly client: { readonly id: string; readonly secret: string } | undefined;
  /** The billing project of a workforce pool, whose users have no project. */
  readonly userProject: string | undefined;
}

export type GoogleCredentials = ServiceAccount | ExternalAccount;

/** @throws UnexpectedShapeError, which never holds a value */
export function readGoogleCredentials(text: string): GoogleCredentials {
  const value = parseForeignJson(text);
  if (!isObject(value)) throw new UnexpectedShapeError('a JSON object', 'the beginning');
  switch (value['type']) {
    case 'service_account':
      return readServiceAccount(value);
    case 'external_account':
      return readExternalAccount(value);
    default:
      throw new UnexpectedShapeError('service_account or external_account', 'type');
  }
}

function readServiceAccount(value: JsonObject): ServiceAccount {
  return {
    type: 'service_account',
    email: readText(value, 'client_email'),
    key: readKey(readText(value, 'private_key')),
    keyId: stringOrUndefined(value['private_key_id']),
    tokenUrl: readUrl(value['token_uri'], 'token_uri'),
  };
}

function readKey(pem: string): KeyObject {
  try {
    return readRsaPrivateKey(pem);
  } catch {
    throw new UnexpectedShapeError('an RSA private key in PEM', 'private_key');
  }
}

function readExternalAccount(value: JsonObject): ExternalAccount {
  const { service_account_impersonation_url: url, service_account_impersonation: how, client_id: id } = value;
  return {
    type: 'external_account',
    audience: readText(value, 'audience'),
    subjectTokenType: readText(value, 'subject_token_type'),
    tokenUrl: readUrl(value['token_url'], 'token_url'),
    source: readSource(readObject(value['credential_source'], 'credential_source')),
    impersonation:
      url === undefined
        ? undefined
        : { url: readUrl(url, 'service_account_impersonation_url'), lifetimeSeconds: readLifetime(how) },
    client:
      id === undefined ? undefined : { id: readText(value, 'client_id'), secret: readText(value, 'client_secret') },
    userProject: stringOrUndefined(value['workforce_pool_user_project']),
  };
}

function readSource(source: JsonObject): SubjectTokenSource {
  const { environment_id: environment, file, url } = source;
  // Checked first, since the AWS source also has a `url`.
  if (environment === 'aws1') return { kind: 'aws' };
  if (file !== undefined) {
    return { kind: 'file', path: readString(file, 'credential_source.file'), field: readField(source) };
  }
  if (url !== undefined && environment === undefined) {
    const at = 'credential_source.url';
    return { kind: 'url', url: readUrl(url, at), headers: readHeaders(source), field: readField(source) };
  }
  throw new UnexpectedShapeError('a file, a url or environment_id aws1', 'credential_source');
}

/** The JSON member that holds the token; undefined when the whole text is the token. */
function readField({ format }: JsonObject): string | undefined {
  if (format === undefined) return undefined;
  const at = 'credential_source.format';
  const { type = 'text', subject_token_field_name: name } = readObject(format, at);
  if (type === 'text') return undefined;
  if (type !== 'json') throw new UnexpectedShapeError('text or json', `${at}.type`);
  return readString(name, `${at}.subject_token_field_name`);
}

function readHeaders({ headers }: JsonObject): Readonly<Record<string, string>> {
  if (headers === undefined) return {};
  const at = 'credential_source.headers';
  const pairs = Object.entries(readObject(headers, at));
  if (pairs.length > MAX_HEADERS) throw new UnexpectedShapeError(`at most ${MAX_HEADERS} headers`, at);
  return Object.fromEntries(
    pairs.map(([name, value]) => {
      const folded = name.toLowerCase();
      if (!HEADER_NAME.test(name) || OWN_HEADERS.has(folded)) throw new UnexpectedShapeError('names of headers', at);
      if (typeof value !== 'string' || !HEADER_VALUE.test(value)) {
        throw new UnexpectedShapeError('values of headers', at);
      }
      return [folded, value];
    }),
  );
}

function readLifetime(how: unknown): number {
  const given = isObject(how) ? how['token_lifetime_seconds'] : undefined;
  if (given === undefined) return LIFETIME_SECONDS;
  const isPossible = typeof given === 'number' && given >= MIN_LIFETIME_SECONDS && given <= MAX_LIFETIME_SECONDS;
  if (isPossible && Number.isInteger(given)) return given;
  const expected = `a whole number from ${MIN_LIFETIME_SECONDS} to ${MAX_LIFETIME_SECONDS}`;
  throw new UnexpectedShapeError(expected, 'service_account_impersonation.token_lifetime_seconds');
}

function readText(value: JsonObject, name: string): string {
  const text = readString(value[name], name);
  if (text === '') throw new UnexpectedShapeError('a text', name);
  return text;
}

function readUrl(value: unknown, path: string): URL {
  const text = readString(value, path);
  const url = /^https?:\/\//i.test(text) && URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.username !== '' || url.password !== '') {
    throw new UnexpectedShapeError('an http(s) URL without a user', path);
  }
  return url;
}
