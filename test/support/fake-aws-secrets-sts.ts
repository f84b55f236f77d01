// Answers of STS: XML, or JSON on request. Source:
// https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html, read 2026-11-21.
import { randomUUID } from 'node:crypto';
import type { AwsKey } from './fake-aws-secrets-signature.js';
import type { AwsRefusal } from './fake-aws-secrets-store.js';
import { json, text, type Reply } from './fake-provider.js';

const NAMESPACE = 'https://sts.amazonaws.com/doc/2011-06-15/';

export function roleSessionAnswer(
  session: AwsKey & { readonly principal: { readonly arn: string } },
  accept: string,
): Reply {
  const { accessKeyId, secretAccessKey, sessionToken = '', expiresAt = new Date() } = session;
  const user = { Arn: session.principal.arn, AssumedRoleId: `AROA3XFRBF535PLBIFPI4:${randomUUID()}` };
  const credentials = { AccessKeyId: accessKeyId, SecretAccessKey: secretAccessKey, SessionToken: sessionToken };
  if (accept.includes('application/json')) {
    const found = { ...credentials, Expiration: expiresAt.getTime() / 1_000 };
    return json({
      AssumeRoleResponse: {
        AssumeRoleResult: { AssumedRoleUser: user, Credentials: found },
        ResponseMetadata: { RequestId: randomUUID() },
      },
    });
  }
  const found = { ...credentials, Expiration: expiresAt.toISOString().replace('.000', '') };
  const result = `<AssumedRoleUser>${elements(user)}</AssumedRoleUser><Credentials>${elements(found)}</Credentials>`;
  return xml(
    `<AssumeRoleResponse xmlns="${NAMESPACE}"><AssumeRoleResult>${result}</AssumeRoleResult>${metadata()}</AssumeRoleResponse>`,
  );
}

export function stsRefusal({ code, message, status }: AwsRefusal): Reply {
  const error = elements({ Type: status < 500 ? 'Sender' : 'Receiver', Code: code, Message: message });
  const body = `<Error>${error}</Error><RequestId>${randomUUID()}</RequestId>`;
  return xml(`<ErrorResponse xmlns="${NAMESPACE}">${body}</ErrorResponse>`, status);
}

function xml(body: string, status = 200): Reply {
  return text(body, 'text/xml', status);
}

function metadata(): string {
  return `<ResponseMetadata><RequestId>${randomUUID()}</RequestId></ResponseMetadata>`;
}

function elements(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([name, value]) => `<${name}>${escape(value)}</${name}>`)
    .join('');
}

function escape(value: string): string {
  return value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
