import { isObject, type JsonObject, numberOrUndefined, parseForeignJson } from '../../common/json/read.js';
import { INVOKE_ANSWER } from '../../inference/dialects/bedrock/invoke-answer.js';
import { s3Address } from '../../upstream/providers/bedrock/s3-file.js';
import type { Counts } from '../../usage/units.js';
import { countsNothing } from './batch-usage.js';

/** The S3 addresses of what a job has written: a folder of its own has the sums and the results. */
export function manifestOf(
  { inputDataConfig: input, outputDataConfig: output }: JsonObject,
  arn: string,
): { readonly manifest: string; readonly results: string } | undefined {
  const from = s3Address(isObject(input) && isObject(input[S3_INPUT]) ? input[S3_INPUT]['s3Uri'] : undefined);
  const to = s3Address(isObject(output) && isObject(output[S3_OUTPUT]) ? output[S3_OUTPUT]['s3Uri'] : undefined);
  if (from === undefined || to === undefined) return undefined;
  const folder = `${to.replace(/\/$/, '')}/${afterSlash(arn)}`;
  return { manifest: `${folder}/manifest.json.out`, results: `${folder}/${afterSlash(from)}.out` };
}

const S3_INPUT = 's3InputDataConfig';
const S3_OUTPUT = 's3OutputDataConfig';

function afterSlash(text: string): string {
  return text.slice(text.lastIndexOf('/') + 1);
}

/** The sum of all records; undefined where it does not say it. */
export function usageInManifest(text: string): Counts | undefined {
  const manifest = parseForeignJson(text);
  if (!isObject(manifest)) return undefined;
  const input = numberOrUndefined(manifest['inputTokenCount']);
  const output = numberOrUndefined(manifest['outputTokenCount']);
  const done = numberOrUndefined(manifest['successRecordCount']);
  if (done === 0) return { input: input ?? 0, output: output ?? 0 };
  return input === undefined || input + (output ?? 0) === 0 ? undefined : { input, output };
}

/** Gathers what the records of a batch have used. */
export class BedrockBatchUsage {
  readonly #calls: Counts[] = [];
  #isWhole = true;
  #lines = 0;

  addLine(line: Buffer): void {
    this.#lines += 1;
    const record = parseForeignJson(line);
    const answer = isObject(record) ? record['modelOutput'] : undefined;
    if (!isObject(answer)) {
      // A record that failed has an error in its place.
      this.#isWhole &&= isObject(record) && isObject(record['error']);
      return;
    }
    const counts = INVOKE_ANSWER.usageIn(answer, undefined);
    this.#isWhole &&= counts !== undefined && !countsNothing(counts);
    if (counts !== undefined) this.#calls.push(counts);
  }

  /**
   * undefined: some of it is not known.
   * @param completed how many records have succeeded, by the batch
   */
  calls(completed: number | undefined): readonly Counts[] | undefined {
    return this.#isWhole && this.#lines >= (completed ?? 0) ? this.#calls : undefined;
  }
}
