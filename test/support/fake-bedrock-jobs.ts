import type { JsonObject } from '../../src/common/json/read.js';
import { readAuthorization } from '../../src/upstream/aws/__fixtures__/sigv4-verifier.js';
import { isSigned, sentTo } from './fake-aws.js';
import { json, type ProviderCall, type Reply, text } from './fake-provider.js';

const ACCOUNT = 'arn:aws:bedrock:us-east-1:123456789012';

/** A kind of jobs in Bedrock's API. */
interface JobKind {
  readonly arn: string;
  readonly createPath: string;
  readonly listPath: string;
  readonly listField: string;
  readonly jobPath: string;
  /** As a list shows a job. */
  readonly summaryOf: (job: JsonObject) => JsonObject;
  /** Of a job that is new. */
  readonly begin: (body: JsonObject, now: string) => JsonObject;
}

export const INVOCATION_JOBS: JobKind = {
  arn: `${ACCOUNT}:model-invocation-job/`,
  createPath: '/model-invocation-job',
  listPath: '/model-invocation-jobs',
  listField: 'invocationJobSummaries',
  jobPath: '/model-invocation-job',
  summaryOf: (job) => job,
  begin: (body, now) => ({ ...body, status: 'Submitted', submitTime: now }),
};

export const CUSTOMIZATION_JOBS: JobKind = {
  arn: `${ACCOUNT}:model-customization-job/amazon.nova-micro-v1:0:128k/`,
  createPath: '/model-customization-jobs',
  listPath: '/model-customization-jobs',
  listField: 'modelCustomizationJobSummaries',
  jobPath: '/model-customization-jobs',
  // Names neither files nor hyperparameters.
  summaryOf: ({ jobArn, baseModelArn, status, creationTime }) => ({ jobArn, baseModelArn, status, creationTime }),
  begin: ({ baseModelIdentifier, ...body }, now) => ({
    ...body,
    baseModelArn: `arn:aws:bedrock:us-east-1::foundation-model/${String(baseModelIdentifier)}`,
    status: 'InProgress',
    creationTime: now,
  }),
};

/** Jobs of an account at Bedrock, and its files in S3. Refuses requests whose signature does not match. */
export class FakeBedrockJobs {
  /** Contents by address: `s3://bucket/in/records.jsonl`. */
  readonly files = new Map<string, string>();
  readonly jobs = new Map<string, JsonObject>();
  /** What S3 answers for a file; undefined: its content, or 404. */
  replyForFile: (address: string) => Reply | undefined = () => undefined;
  /** Answers a create, once the job is made. */
  replyToCreate: (answer: JsonObject) => Reply = (answer) => json(answer);

  constructor(private readonly kind: JobKind) {}

  readonly reply: Reply = (response, call) => this.#replyTo(call)(response, call);

  /** Changes a job: `job000000001` is the first. */
  change(id: string, fields: JsonObject): void {
    this.jobs.set(id, { ...this.jobs.get(id), ...fields, jobArn: this.kind.arn + id });
  }

  /** Writes records as AWS takes them. */
  upload(address: string, inputs: readonly unknown[]): void {
    this.files.set(address, lines(inputs.map((modelInput, index) => ({ recordId: `record-${index}`, modelInput }))));
  }

  #replyTo(call: ProviderCall): Reply {
    const { method, headers } = call;
    const { pathname } = new URL(call.path, 'http://bedrock');
    if (!isSigned(call)) return json({ message: 'The request signature does not match.' }, 403);
    const authorization = { authorization: String(headers.authorization) };
    const { scope } = readAuthorization({ method: 'GET', url: new URL('http://bedrock'), headers: authorization });
    if (scope.endsWith('/us-east-1/s3/aws4_request')) return this.#fileAt(`s3:/${decodeURIComponent(pathname)}`);
    const { arn, createPath, listPath, listField, jobPath, summaryOf } = this.kind;
    if (method === 'POST' && pathname === createPath) return this.replyToCreate(this.#make(sentTo(call)));
    if (pathname === listPath) return json({ [listField]: [...this.jobs.values()].toReversed().map(summaryOf) });
    const job = this.jobs.get(decodeURIComponent(pathname).slice(`${jobPath}/${arn}`.length));
    return job === undefined ? json({ message: 'no such job' }, 404) : json(job);
  }

  #fileAt(address: string): Reply {
    const reply = this.replyForFile(address);
    if (reply !== undefined) return reply;
    const content = this.files.get(address);
    return content === undefined ? s3Error(404, 'NoSuchKey') : text(content, 'binary/octet-stream');
  }

  #make(body: JsonObject): JsonObject {
    const id = `job${String(this.jobs.size + 1).padStart(9, '0')}`;
    this.change(id, this.kind.begin(body, new Date().toISOString()));
    return { jobArn: this.kind.arn + id };
  }
}

export function s3Error(status: number, code: string): Reply {
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${code}</Message></Error>`;
  return text(body, 'application/xml', status);
}

export function lines(values: readonly unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('');
}
