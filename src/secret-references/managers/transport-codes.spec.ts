import { expect, it } from '@jest/globals';
import axios from 'axios';
import { UpstreamFailure, type UpstreamFailureKind } from '../../upstream/upstream.types.js';
import { toSecretError } from './aws-error.js';
import { toVaultError } from './azure-errors.js';
import type { SecretErrorCode } from './secret-manager.types.js';
import { VaultHttp } from './vault-http.js';

async function vaultError(failure: UpstreamFailure): Promise<unknown> {
  const address = { baseUrl: 'https://vault.example', namespace: undefined, httpsAgent: undefined };
  const axiosRef = axios.create({ adapter: () => Promise.reject(failure) });
  const vault = new VaultHttp({ axiosRef }, address, []);
  return vault.send({ method: 'GET', path: 'secret/a' }).catch((error: unknown) => error);
}

it.each<[UpstreamFailureKind, SecretErrorCode]>([
  ['refused_by_egress', 'refused_by_egress'],
  ['connect', 'unreachable'],
  ['broken', 'unreachable'],
  ['incomplete', 'invalid_response'],
  ['interim', 'invalid_response'],
  ['redirect', 'invalid_response'],
  ['timeout', 'timeout'],
  ['too_large', 'too_large'],
  ['caller_gone', 'timeout'],
])('maps the failure %s to %s for every manager', async (kind, code) => {
  const failure = new UpstreamFailure(kind, 'reason');
  const errors = [toSecretError(failure, []), toVaultError(failure, undefined, []), await vaultError(failure)];
  expect(errors).toMatchObject([{ code }, { code }, { code }]);
});
