import { invalidField } from '../../common/errors/gateway.error.js';
import { isObject, type JsonObject } from '../../common/json/read.js';
import { withFirstMember, withMember } from '../../common/json/scan.js';

const NAME = 'stream_options';

/** The form in which a request wants its answer. */
export interface StreamForm {
  readonly isStream: boolean;
  /** undefined when absent. null means no options. */
  readonly streamOptions: JsonObject | null | undefined;
}

/** @throws GatewayError `validation_failed` */
export function readStreamOptions(members: JsonObject): JsonObject | null | undefined {
  const options = members[NAME];
  if (options === undefined || options === null || isObject(options)) return options;
  throw invalidField(NAME, 'must be an object');
}

/** Whether the gateway has to ask for the usage at the end of the stream, since the caller does not. */
export function asksForUsage({ isStream, streamOptions }: StreamForm): boolean {
  return isStream && streamOptions?.['include_usage'] !== true;
}

/** Returns the body with a request for the stream's usage added. */
export function askingForUsage(body: Buffer, form: StreamForm): Buffer {
  if (!asksForUsage(form)) return body;
  const change = form.streamOptions === undefined ? withFirstMember : withMember;
  return change(body, NAME, { ...form.streamOptions, include_usage: true });
}
