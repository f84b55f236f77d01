import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { FakeAwsSecrets } from './support/fake-aws-secrets.js';
import { keyOf, SecretGateway } from './support/secret-gateway.js';
import { jsonOf, refusalOf } from './support/send.js';

const VALUE = 'sk-from-aws-0123456789';

let aws: FakeAwsSecrets;
let gateway: SecretGateway;
let user: { readonly accessKeyId: string; readonly secretAccessKey: string };

beforeAll(async () => {
  aws = await new FakeAwsSecrets().start();
  const secret = aws.addSecret({ name: 'prod/cohere', value: JSON.stringify({ api_key: VALUE, timeout: 5_000 }) });
  user = aws.addUser('tollgate', [secret.arn]);
  aws.addSecret({ name: 'prod/other', value: 'x' });
  gateway = await SecretGateway.start({
    AWS_ENDPOINT_URL_SECRETS_MANAGER: aws.url,
    AWS_ENDPOINT_URL_STS: aws.url,
  });
  gateway.accept([VALUE]);
});

afterAll(async () => {
  await gateway.close();
  await aws.close();
});

function reference(secret_path: string): Promise<string> {
  return gateway.reference(secret_path.replace('/', '-'), {
    manager_type: 'aws_sm',
    auth_config: {
      aws_auth_type: 'accessKey',
      aws_access_key_id: user.accessKeyId,
      aws_secret_access_key: user.secretAccessKey,
      aws_region: 'eu-central-1',
    },
    secret_path,
    secret_key: 'api_key',
  });
}

it('maps the key and an option of a virtual key from one AWS secret', async () => {
  const id = await reference('prod/cohere');
  const slug = await gateway.virtualKey(id, {
    secret_mappings: [
      { target_field: 'key', secret_reference_id: id },
      { target_field: 'config.timeout_ms', secret_reference_id: id, secret_key: 'timeout', value_format: 'json' },
    ],
  });
  expect((await gateway.rerank(slug)).status).toBe(200);
  expect(gateway.provider.calls.map(keyOf)).toEqual([VALUE]);
  expect(aws.callsOf('secretsmanager')).toHaveLength(1);
});

it('refuses calls when AWS denies the mapped secret', async () => {
  const id = await reference('prod/other');
  const slug = await gateway.virtualKey(id);
  expect(refusalOf(await gateway.rerank(slug))).toMatchObject({ status: 502, code: 'secret_unavailable' });
  const tested = await gateway.admin.post(`/v1/secret-references/${id}/test`);
  expect(jsonOf(tested)).toMatchObject({ ok: false, error: 'access_denied' });
  expect(gateway.app.log()).not.toContain(user.secretAccessKey);
});
