// The identity of a machine or pod on Google Cloud. Source: https://cloud.google.com/compute/docs/access/authenticate-workloads, read 2026-11-28.
import { askForToken, type GoogleToken, readOauthToken, type SendTokenRequest } from './token-answer.js';

const PATH = '/computeMetadata/v1/instance/service-accounts/default/token';

export async function tokenOfMachine(send: SendTokenRequest, host: string, now: Date): Promise<GoogleToken> {
  const url = new URL(`http://${host}${PATH}`);
  const answer = await askForToken(send, { method: 'GET', url, headers: { 'metadata-flavor': 'Google' } }, []);
  return readOauthToken(answer, url.host, now.getTime());
}
