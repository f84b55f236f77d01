import type { AwsCredentialSource } from '../aws/aws-credentials.js';
import { azureAi } from './azure-ai.vendor.js';
import { azureOpenai } from './azure-openai.vendor.js';
import { createBedrockVendor } from './bedrock.vendor.js';
import { cohere } from './cohere.vendor.js';
import { jina } from './jina.vendor.js';
import { local } from './local.vendor.js';
import { openaiCompatible } from './openai-compatible.vendor.js';
import { openai } from './openai.vendor.js';
import { pinecone } from './pinecone.vendor.js';
import type { Vendor } from './vendor.types.js';
import { voyage } from './voyage.vendor.js';

/** Injection token of the list of vendors. */
export const VENDORS = Symbol('VENDORS');

/** What some vendors need besides the virtual key. */
interface VendorServices {
  readonly awsCredentials: Pick<AwsCredentialSource, 'resolve' | 'forget'>;
}

/** All vendors, one line each. */
export function createVendors(services: VendorServices): readonly Vendor[] {
  return [
    cohere,
    voyage,
    jina,
    pinecone,
    createBedrockVendor(services.awsCredentials),
    azureAi,
    openai,
    azureOpenai,
    openaiCompatible,
    local,
  ];
}
