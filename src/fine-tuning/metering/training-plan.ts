import { isNamed } from '../../common/json/field-names.js';
import { JSON_TOKEN, type LastString, stringAt, walkJson } from '../../common/json/scan.js';
import type { JobPlan } from '../../gateway/deferred/deferred-meter.js';
import { type ProviderFiles, unreadableReason } from '../../gateway/deferred/provider-files.js';
import type { ProviderContext } from '../../gateway/provider-context.decorator.js';
import type { ProviderRequest } from '../../upstream/providers/provider.types.js';

export const ENDPOINT = 'fine_tuning';
export const FILE = 'training_file';
export const EPOCHS = 'n_epochs';
export const MAX_EPOCHS = 1_000;
/** A job may wait in its queue for days. Two hours more are for late results. */
export const LIFETIME_MS = 7 * 86_400_000 + 2 * 3_600_000;
/** The caller waits for it. */
const MAX_PLAN_MS = 60_000;
/** Beside the text of an example: the frame of its conversation. */
const FRAME_TOKENS = 64;
/** By which examples of OpenAI and of Bedrock refer to an image. What its tokens are, no text says. */
const IMAGES = ['image_url', 's3Location'];

/** A plan that does not say how much the job may use. @param field of the request that leaves it open */
export function leftOpen(field: string, reason: string): JobPlan {
  return { parts: [], unbounded: { field, reason } };
}

/** The tokens of the training file, times the epochs. */
export async function planTraining(
  files: ProviderFiles,
  context: ProviderContext,
  file: ProviderRequest,
  { model, epochs }: { readonly model: string; readonly epochs: number },
): Promise<JobPlan> {
  let tokens = 0;
  let reason: string | undefined;
  const onLine = (line: Buffer, number: number): void => {
    // A token has at least one byte.
    tokens += line.length + FRAME_TOKENS;
    if (reason === undefined && refersToImages(line)) reason = `line ${number} has an image`;
  };
  try {
    await files.eachLine(context, file, MAX_PLAN_MS, onLine);
  } catch (error) {
    return leftOpen(FILE, unreadableReason(error));
  }
  const parts = [
    { model, unit: 'training', calls: [{ training: tokens * epochs }], mayUse: new Set<never>() },
  ] as const;
  return { parts, unbounded: reason === undefined ? undefined : { field: FILE, reason } };
}

function refersToImages(line: Buffer): boolean {
  let isFound = false;
  walkJson(line, (token, _at, _depth, last) => {
    if (token === JSON_TOKEN.colon) isFound = IMAGES.some((name) => isNamed(nameAt(line, last), name));
    return !isFound;
  });
  return isFound;
}

/** Empty where the line is not JSON: the provider will refuse it. */
function nameAt(line: Buffer, last: Readonly<LastString>): string {
  try {
    return stringAt(line, last);
  } catch {
    return '';
  }
}
