import { ValidateBy, ValidateIf, type ValidationOptions, type ValidationArguments } from 'class-validator';

/** The setting has no default. */
export const OptionalSetting = (options?: ValidationOptions): PropertyDecorator => ValidateIf(present, options);

/** The address of a service as a URL. Its host may be a bare name, as containers have it. */
export function IsAddress(protocols: readonly string[], options?: ValidationOptions): PropertyDecorator {
  const beginnings = protocols.map((protocol) => `${protocol}://`);
  const message = `$property must be a URL that begins with ${beginnings.join(' or ')}`;
  return ValidateBy({ name: 'isAddress', validator: { validate: isAddress } }, { message, ...options });

  function isAddress(value: unknown): boolean {
    if (typeof value !== 'string' || /\s/.test(value) || !URL.canParse(value)) return false;
    return beginnings.some((beginning) => value.toLowerCase().startsWith(beginning));
  }
}

export const IsWebAddress = (options?: ValidationOptions): PropertyDecorator => IsAddress(['http', 'https'], options);

/** What is wrong with a value, to be read on from the name of its setting; undefined: nothing. */
type Rule = (value: unknown) => string | undefined;

const DATABASE = /^postgres(?:ql)?:\/\//i;
const REDIS = /^rediss?:\/\//i;
/** User name and password before the end of a host that is left out, as libpq takes it when a parameter has the host. */
const WITHOUT_HOST = /^([^/]*\/\/[^/@]*@)(?=\/)/;
/** User name, password and host. */
const AUTHORITY = /^[^/]*\/\/([^/?#]*)/;

const NO_STRING = 'must be a string';
const UNREADABLE =
  'cannot be read as a URL (special characters in a user name or password must be encoded: % as %25, # as %23, a comma as %2C)';

/** A URL of PostgreSQL, as `pg` reads it. */
export const IsDatabaseUrl = (): PropertyDecorator => Follows('isDatabaseUrl', databaseProblem);

/** A URL of Redis, as ioredis reads it. */
export const IsRedisUrl = (): PropertyDecorator => Follows('isRedisUrl', redisProblem);

/** URLs of Redis servers that belong together, nodes of a cluster or sentinels: what is not the address is the same in all. */
export const AreRedisUrls = (): PropertyDecorator => Follows('areRedisUrls', serversProblem);

function databaseProblem(value: unknown): string | undefined {
  if (typeof value !== 'string') return NO_STRING;
  if (!DATABASE.test(value)) return 'must be a URL that begins with postgres:// or postgresql://';
  if (hostOf(value).includes(',')) return 'must name one host, not several';
  const url = parse(value.replace(WITHOUT_HOST, '$1localhost'));
  if (url === undefined) return UNREADABLE;
  // Other tools know it. The driver would ignore it, and make the tables elsewhere.
  if (url.searchParams.has('schema')) return 'must not have "schema": ?options=-c%20search_path%3Dname chooses one';
  return undefined;
}

function redisProblem(value: unknown): string | undefined {
  if (typeof value !== 'string') return NO_STRING;
  if (!REDIS.test(value)) return 'must be a URL that begins with redis:// or rediss://';
  const url = parse(value);
  if (url === undefined) return UNREADABLE;
  if (!/^\/?\d*$/.test(url.pathname)) return 'must end with the number of a database, or none, after the host';
  return undefined;
}

function serversProblem(values: unknown): string | undefined {
  if (!Array.isArray(values)) return 'must be a list';
  const problem = values.map(redisProblem).find((found) => found !== undefined);
  if (problem !== undefined) return problem;
  const urls = values.map((value) => new URL(String(value)));
  if (urls.some(({ search }) => search !== '')) return 'must have no parameters';
  if (urls.some(({ pathname }) => Number(pathname.slice(1)) > 0))
    return 'must name no database: clusters and sentinels have none to choose';
  const accounts = new Set(urls.map(({ protocol, username, password }) => [protocol, username, password].join(' ')));
  return accounts.size > 1 ? 'must have the same scheme, user name and password in all URLs' : undefined;
}

function parse(value: string): URL | undefined {
  if (/\s/.test(value) || !URL.canParse(value)) return undefined;
  const url = new URL(value);
  const isWhole = url.hash === '' && [url.username, url.password, url.pathname].every(isDecodable);
  return isWhole ? url : undefined;
}

/** Of a URL that may be unreadable for having several. */
function hostOf(value: string): string {
  const [, authority = ''] = AUTHORITY.exec(value) ?? [];
  return authority.slice(authority.lastIndexOf('@') + 1);
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

function Follows(name: string, rule: Rule): PropertyDecorator {
  return ValidateBy(
    { name, validator: { validate: (value: unknown) => rule(value) === undefined } },
    { message: ({ value }: ValidationArguments) => `$property ${rule(value) ?? ''}` },
  );
}

function present(_object: object, value: unknown): boolean {
  return value !== undefined;
}
