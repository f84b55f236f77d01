import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type AwsIamKey, FakeAwsSecrets } from './support/fake-aws-secrets.js';
import { type FakeProvider, inTurn, json, onlyCall, startFakeProvider } from './support/fake-provider.js';
import { GatewayClient } from './support/gateway-client.js';
import { BEDROCK_MODEL, type RerankGateway, startRerankGateway } from './support/rerank-gateway.js';
import { jsonOf, refusalOf, send } from './support/send.js';
import { ADMIN_KEY, startTestApp } from './support/test-app.js';

const BODY = { model: BEDROCK_MODEL, query: 'q', documents: ['a'] };

let aws: FakeAwsSecrets;
let gateway: RerankGateway | undefined;

beforeEach(async () => {
  aws = await new FakeAwsSecrets().start();
});
afterEach(async () => {
  await gateway?.close();
  gateway = undefined;
  await aws.close();
});

async function start(settings: Readonly<Record<string, string>>, keepDatabase = false): Promise<RerankGateway> {
  gateway = await startRerankGateway(settings, keepDatabase);
  gateway.provider.replyWith(json({ results: [] }));
  return gateway;
}

describe('a role that a Bedrock key assumes', () => {
  const keyOf = (running: RerankGateway): Promise<string> => {
    const user = aws.addUser('tenant');
    const role = aws.addRole('reranker', { trusts: user.principal.arn, externalId: undefined });
    const config = {
      aws_auth_type: 'assumedRole',
      aws_access_key_id: user.accessKeyId,
      aws_secret_access_key: user.secretAccessKey,
      aws_role_arn: role.arn,
    };
    return running.virtualKey('bedrock', { config });
  };

  it('assumes the role of a Bedrock key at AWS_ENDPOINT_URL_STS', async () => {
    const running = await start({ AWS_ENDPOINT_URL_STS: aws.url });
    expect((await running.rerank(await keyOf(running), BODY)).status).toBe(200);
    expect(aws.callsOf('sts')).toMatchObject([{ region: 'us-east-1' }]);
    expect(onlyCall(running.provider).headers.authorization).toContain('Credential=ASIA');
  });

  it('assumes the role again and repeats the call when AWS rejects the session', async () => {
    const running = await start({ AWS_ENDPOINT_URL_STS: aws.url });
    const refused = json({ message: 'no' }, 403, { 'x-amzn-errortype': 'UnrecognizedClientException' });
    running.provider.replyWith(inTurn(refused, json({ results: [] })));
    expect((await running.rerank(await keyOf(running), BODY)).status).toBe(200);
    expect(aws.callsOf('sts')).toHaveLength(2);
    expect(running.provider.calls).toHaveLength(2);
  });

  it('does not assume a role at an address that EGRESS_ALLOW blocks', async () => {
    const running = await start({ AWS_ENDPOINT_URL_STS: 'http://169.254.169.254' });
    expect(refusalOf(await running.rerank(await keyOf(running), BODY))).toMatchObject({ code: 'secret_unavailable' });
    expect(running.provider.calls).toEqual([]);
    expect(running.app.log()).toContain('STS: refused_by_egress');
  });
});

describe("the gateway's own AWS identity, found in its container", () => {
  const ADDRESS = 'AWS_CONTAINER_CREDENTIALS_FULL_URI';
  const SERVICE_ROLE = { aws_auth_type: 'serviceRole', aws_access_key_id: undefined, aws_secret_access_key: undefined };
  let container: FakeProvider;
  let organisationId: string;

  beforeEach(async () => {
    container = await startFakeProvider();
    process.env[ADDRESS] = `${container.url}/credentials`;
    const first = await startTestApp();
    [{ id: organisationId }] = await first.dataSource.query('SELECT id FROM organisations');
    await first.close();
  });
  afterEach(async () => {
    Reflect.deleteProperty(process.env, ADDRESS);
    await container.close();
  });

  /** As the agents of ECS and EKS answer, but without the session token: the fake AWS expects none for users. */
  const identity = ({ accessKeyId, secretAccessKey }: AwsIamKey) =>
    json({
      AccessKeyId: accessKeyId,
      SecretAccessKey: secretAccessKey,
      Token: '',
      Expiration: new Date(Date.now() + 3_600_000).toISOString(),
    });

  it('signs for Bedrock keys and secret references with one lookup of the container identity', async () => {
    const own = aws.addUser('gateway');
    aws.addSecret({ name: 'prod/key', value: 'the-value' });
    container.replyWith(identity(own));
    const running = await start(
      {
        AWS_SERVICE_ROLE_ORGANISATIONS: organisationId,
        SECRET_IDENTITY_ALLOW: '* aws_sm prod/*',
        AWS_ENDPOINT_URL_SECRETS_MANAGER: aws.url,
      },
      true,
    );
    expect((await running.rerank(await running.virtualKey('bedrock', { config: SERVICE_ROLE }), BODY)).status).toBe(
      200,
    );
    expect(onlyCall(running.provider).headers.authorization).toContain(`Credential=${own.accessKeyId}/`);
    const client = new GatewayClient(running.app.url);
    const { id } = await client.create('/v1/secret-references', {
      name: 'own',
      manager_type: 'aws_sm',
      auth_config: { aws_auth_type: 'serviceRole', aws_region: 'eu-central-1' },
      secret_path: 'prod/key',
    });
    const tested = await send(`${running.app.url}/v1/secret-references/${String(id)}/test`, {
      method: 'POST',
      headers: { 'x-gateway-api-key': ADMIN_KEY },
    });
    expect(jsonOf(tested)).toMatchObject({ ok: true });
    expect(aws.callsOf('secretsmanager')).toMatchObject([{ accessKeyId: own.accessKeyId }]);
    onlyCall(container);
  });

  it('looks up the container identity again and repeats the call when AWS rejects it', async () => {
    const [old, next] = [aws.addUser('old'), aws.addUser('next')];
    container.replyWith(inTurn(identity(old), identity(next)));
    const running = await start({ AWS_SERVICE_ROLE_ORGANISATIONS: organisationId }, true);
    const key = await running.virtualKey('bedrock', { config: SERVICE_ROLE });
    const expired = json({ message: 'The security token included in the request is expired' }, 403, {
      'x-amzn-errortype': 'ExpiredTokenException',
    });
    running.provider.replyWith(inTurn(expired, json({ results: [] })));
    expect((await running.rerank(key, BODY)).status).toBe(200);
    const users = running.provider.calls.map(
      ({ headers }) => /Credential=(\w+)/.exec(headers.authorization ?? '')?.[1],
    );
    expect(users).toEqual([old.accessKeyId, next.accessKeyId]);
    expect(container.calls).toHaveLength(2);
  });

  it('looks up the identity only for allowed organisations, and not again after access denied', async () => {
    container.replyWith(identity(aws.addUser('gateway')));
    const closed = await start({}, true);
    const key = await closed.virtualKey('bedrock', { config: SERVICE_ROLE });
    expect(refusalOf(await closed.rerank(key, BODY))).toMatchObject({ code: 'permission_denied' });
    expect(container.calls).toEqual([]);
    await closed.close();

    const open = await start({ AWS_SERVICE_ROLE_ORGANISATIONS: organisationId }, true);
    open.provider.replyWith(json({ message: 'no' }, 403, { 'x-amzn-errortype': 'AccessDeniedException' }));
    const other = await open.virtualKey('bedrock', { config: SERVICE_ROLE });
    for (let call = 0; call < 2; call += 1) {
      expect(refusalOf(await open.rerank(other, BODY))).toMatchObject({ code: 'provider_credential_rejected' });
    }
    expect([open.provider.calls.length, container.calls.length]).toEqual([2, 1]);
  });
});
