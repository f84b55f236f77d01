/** ARN of an IAM role, with its path. Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html */
export const AWS_ROLE_ARN = /^arn:aws[a-z-]*:iam::\d{12}:role\/[\w+=,.@/-]{1,512}$/;
