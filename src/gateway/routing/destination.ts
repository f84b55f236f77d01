import type { Request } from 'express';
import type { Principal } from '../../access/principal.js';
import { isObject, stringOrUndefined } from '../../common/json/read.js';
import type { RoutedCall } from '../../model-routes/target-terms.js';
import type { PolicyAttributes } from '../../policies/policy-keys.js';
import { contextOf, type RequestContext } from '../../telemetry/request-context.js';
import type { AnswerHead } from '../answer-head.js';
import type { Destination } from '../virtual-key.finder.js';
import { RESPONSE_ID } from './response-pins.js';

const CACHE_KEY = 'prompt_cache_key';
const PREVIOUS_RESPONSE = 'previous_response_id';
/** The members of a body that decide where a call is sent, besides its model. */
export const ROUTING_MEMBERS: readonly string[] = [CACHE_KEY, PREVIOUS_RESPONSE];
/** For English in JSON. Other texts have fewer. */
const BYTES_PER_TOKEN = 4;
type NamedDestination = Pick<Destination, 'virtualKey' | 'model'>;

/** Printable ASCII, as headers allow, and longer than any model name or ARN. */
const FITS_A_HEADER = /^[\x20-\x7e]{1,512}$/;

/** Sets the fields of the log line. */
export function noteDestination(known: RequestContext, { virtualKey, model }: NamedDestination): void {
  known.facts.virtual_key = virtualKey.slug;
  known.facts.provider = virtualKey.provider.slug;
  known.noteUse(virtualKey);
  if (model !== undefined) known.noteModel(model);
}

/** Names the destination to the client, in headers. */
export function setDestinationHeaders(
  answer: Pick<AnswerHead, 'setHeader'>,
  { virtualKey, model }: NamedDestination,
): void {
  answer.setHeader('x-gateway-virtual-key-used', virtualKey.slug);
  if (model !== undefined && FITS_A_HEADER.test(model)) answer.setHeader('x-gateway-model', model);
}

/**
 * Answers the questions of a model route from a request.
 * @param model as the client wrote it
 */
export class RequestOfRoute implements RoutedCall {
  constructor(
    private readonly request: Request,
    private readonly principal: Principal,
    private readonly model: string | undefined,
  ) {}

  affinity(): string | undefined {
    return affinityOf(this.request);
  }

  previousResponse(): string | undefined {
    const { body } = this.request;
    return isObject(body) ? stringOrUndefined(body[PREVIOUS_RESPONSE]) : undefined;
  }

  estimatedTokens(): number {
    return Math.ceil((this.request.rawBody?.length ?? 0) / BYTES_PER_TOKEN);
  }

  storedResponse(): string | undefined {
    const id: unknown = this.request.params[RESPONSE_ID];
    return stringOrUndefined(id);
  }

  attributes(): PolicyAttributes {
    const { id, organisationId, workspaceId } = this.principal;
    return {
      api_key: id,
      organisation_id: organisationId,
      workspace_id: workspaceId ?? undefined,
      virtual_key: undefined,
      provider: undefined,
      model: undefined,
      model_requested: this.model,
      endpoint: undefined,
      mcp_server: undefined,
      mcp_tool: undefined,
      metadata: contextOf(this.request).metadata,
    };
  }
}

/** The value that the calls of a session share: its name, or the key of the provider's prompt cache. */
function affinityOf(request: Request): string | undefined {
  const { body } = request;
  const cacheKey: unknown = isObject(body) ? body[CACHE_KEY] : undefined;
  return stringOrUndefined(contextOf(request).metadata['session']) ?? stringOrUndefined(cacheKey);
}
