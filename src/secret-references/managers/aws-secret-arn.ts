// ARNs of secrets. Source: https://docs.aws.amazon.com/secretsmanager/latest/userguide/reference_iam-permissions.html,
// read 2026-11-21.
import { AWS_REGION } from '../../upstream/aws/aws-region.js';

/** A name never begins so: colons are not allowed in one. */
const ANY_ARN = /^arn:/i;
/** AWS also takes an ARN without the six characters that it adds to a name. */
const SECRET_ARN = /^arn:aws[a-z-]*:secretsmanager:([^:]*):\d{12}:secret:[\w/+=.@!-]{1,519}$/;

export type SecretName =
  | { readonly form: 'name' }
  | { readonly form: 'arn'; readonly region: string }
  /** An ARN of something else, or of a region that cannot be one. */
  | { readonly form: 'wrong_arn' };

/** What a secret's path is: a name in the account and the region of whoever asks, or an ARN, which says both. */
export function readSecretName(path: string): SecretName {
  if (!ANY_ARN.test(path)) return { form: 'name' };
  const region = SECRET_ARN.exec(path)?.[1];
  return region !== undefined && AWS_REGION.test(region) ? { form: 'arn', region } : { form: 'wrong_arn' };
}
