// Shared by the two kinds of Bedrock jobs: ids, paths and lists. Source:
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_ListModelInvocationJobs.html, read 2026-11-21.
import { GatewayError, invalidField } from '../../../common/errors/gateway.error.js';
import { type JsonObject, readArray, readObject, stringOrUndefined } from '../../../common/json/read.js';
import type { Ask, Credential, ProviderRequest } from '../provider.types.js';
import { type CursorPage, cursorWalk, type TokenPage } from '../../../common/pagination/cursor-walk.js';
import { fromOpaqueId, toOpaqueId } from '../../../common/opaque-id.js';

/** The largest page size of AWS. */
const MAX_PAGE_SIZE = 1_000;
/** Covers 50,000 jobs when AWS fills its pages. */
const MAX_PAGES = 50;
/** An id of this length stays below the 512 characters that routes accept. */
const MAX_ARN_CHARACTERS = 350;

export interface BedrockJobKind {
  /** `batch_` */
  readonly idPrefix: string;
  /** Path parameter that holds the id. */
  readonly idParam: string;
  /** Form of the job's ARN, with the groups `region` and `account`. */
  readonly arn: RegExp;
  readonly listPath: string;
  /** The field of a list's answer that holds the jobs. */
  readonly listField: string;
  /** Path of one job, without its ARN. */
  readonly jobPath: string;
}

type TextByName = Readonly<Record<string, string>>;

interface BedrockJobName {
  readonly arn: string;
  readonly region: string;
}

export function toJobId(kind: BedrockJobKind, arn: string): string {
  return toOpaqueId(kind.idPrefix, arn);
}

/** The AWS account in a job's ARN. */
export function accountOf(kind: BedrockJobKind, arn: string): string | null {
  return kind.arn.exec(arn)?.groups?.['account'] ?? null;
}

/**
 * The job that an operation names.
 * @throws GatewayError `not_found` for an id that names no job of this kind in the region of the virtual key
 */
export function jobOf(
  kind: BedrockJobKind,
  { params }: { readonly params: TextByName },
  credential: Credential,
): BedrockJobName {
  const name = jobName(kind, params[kind.idParam] ?? '', credential);
  if (name === undefined) throw new GatewayError('not_found', { param: kind.idParam });
  return name;
}

/** The request that reads the job or acts on it. */
function jobRequest(kind: BedrockJobKind, { arn, region }: BedrockJobName, action?: 'stop'): ProviderRequest {
  const path = `${kind.jobPath}/${encodeURIComponent(arn)}`;
  return action === undefined
    ? { method: 'GET', path, region, plane: 'control' }
    : { method: 'POST', path: `${path}/${action}`, region, plane: 'control' };
}

export async function readJob(kind: BedrockJobKind, name: BedrockJobName, ask: Ask): Promise<JsonObject> {
  return readObject(await ask(jobRequest(kind, name)), 'body');
}

/** Stops the job, then reads it. It may still be running, since AWS stops jobs asynchronously. */
export async function stopJob(kind: BedrockJobKind, name: BedrockJobName, ask: Ask): Promise<JsonObject> {
  // The response has no fields and maybe no body, so the job is read next.
  await ask(jobRequest(kind, name, 'stop'));
  return readJob(kind, name, ask);
}

/**
 * Reads the job that was just created. The job exists and costs money, so a failure here must not look like a failed
 * creation. It returns `asked` instead: the request and the ARN.
 */
export async function readNewJob(kind: BedrockJobKind, asked: JsonObject, ask: Ask): Promise<JsonObject> {
  const name = parseArn(kind, stringOrUndefined(asked['jobArn']) ?? '');
  if (name === undefined) return asked;
  return readJob(kind, name, ask).catch(() => asked);
}

/** A page of jobs, newest first. */
export async function listJobs(
  kind: BedrockJobKind,
  { query }: { readonly query: TextByName },
  ask: Ask,
  credential: Credential,
): Promise<CursorPage<JsonObject>> {
  const { after } = query;
  const limit = Number(query['limit']);
  const cursor = after === undefined ? undefined : jobName(kind, after, credential);
  if (after !== undefined && cursor === undefined)
    throw invalidField('after', 'must be the id of an item of this list');
  // After a cursor, requests pages of the maximum size. Otherwise requests one more item than the limit, to know
  // whether there are more.
  const maxResults = cursor === undefined ? limit + 1 : MAX_PAGE_SIZE;
  return cursorWalk({
    fetchPage: async (token) => readPage(kind, await ask(pageRequest(kind, maxResults, token))),
    isCursor: cursor === undefined ? undefined : (job) => job['jobArn'] === cursor.arn,
    limit,
    maxPages: MAX_PAGES,
  });
}

function pageRequest(kind: BedrockJobKind, maxResults: number, nextToken: string | undefined): ProviderRequest {
  const query = { maxResults: String(maxResults), sortBy: 'CreationTime', sortOrder: 'Descending' };
  return {
    method: 'GET',
    path: kind.listPath,
    query: nextToken === undefined ? query : { ...query, nextToken },
    plane: 'control',
  };
}

function readPage(kind: BedrockJobKind, answer: unknown): TokenPage<JsonObject> {
  const body = readObject(answer, 'body');
  const path = `body.${kind.listField}`;
  const items = readArray(body[kind.listField] ?? [], path).map((item, index) => readObject(item, `${path}[${index}]`));
  const token = stringOrUndefined(body['nextToken']);
  return { items, nextToken: token === '' ? undefined : token };
}

/** A virtual key with a region sees only jobs of that region. Without one, the job's own region is used. */
function jobName(kind: BedrockJobKind, id: string, { options }: Credential): BedrockJobName | undefined {
  const name = parseArn(kind, fromOpaqueId(kind.idPrefix, id) ?? '');
  const own = 'aws_region' in options ? stringOrUndefined(options.aws_region) : undefined;
  return own === undefined || own === name?.region ? name : undefined;
}

function parseArn(kind: BedrockJobKind, arn: string): BedrockJobName | undefined {
  const region = arn.length > MAX_ARN_CHARACTERS ? undefined : kind.arn.exec(arn)?.groups?.['region'];
  return region === undefined ? undefined : { arn, region };
}
