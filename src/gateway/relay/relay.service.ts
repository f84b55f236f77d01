import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ERROR_CODES } from '../../common/errors/error-codes.js';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { isNamed } from '../../common/json/field-names.js';
import { type JsonObject, readObject } from '../../common/json/read.js';
import { parseProviderJson, parseProviderResult, shapeToError } from '../../upstream/provider-error.js';
import { callerAccount } from '../../upstream/providers/caller-account.js';
import { OfferedEndpoints } from '../../upstream/providers/offered-endpoints.js';
import type { Provider, ProviderRequest } from '../../upstream/providers/provider.types.js';
import type { AttemptObserver, BodyFilter, UpstreamAnswer } from '../../upstream/upstream.types.js';
import type { DeferredCall } from '../deferred/deferred-call.js';
import { DeferredCalls } from '../deferred/deferred-calls.js';
import { type DeferredMeter, DeferredMeters } from '../deferred/deferred-meter.js';
import { JobEvents } from '../deferred/job-events.js';
import { JobKeeper } from '../deferred/job-keeper.js';
import { ProviderCallService, type ProviderOperation } from '../provider-call.service.js';
import { assertEveryModelAllowed, assertModelAllowed, restrictsModels } from '../../model-routes/model-access.js';
import type { ProviderContext } from '../provider-context.decorator.js';
import { UsedUpLimits } from '../used-up-limits.js';
import { betaHeader } from './beta-header.js';
import { idempotencyKey, ownKey } from './idempotency-key.js';
import { Isolation, type Ownership } from './isolation.js';
import { type UnsupportedOptions, withoutOptions } from './left-out.js';
import { listOwn } from './list-own.js';
import { normaliseAnswer } from './normalise-answer.js';
import { hasField, usedIds } from './object-ids.js';
import type { MappedProvider, OperationInput, ResourceProvider } from './operation.types.js';
import {
  fileContentRequest,
  rangeHeaders,
  type RelayRequestParts,
  toOperationInput,
  toProviderRequest,
} from './relay-input.js';
import { API_VERSION } from './relay-query.js';
import {
  endpointOf,
  hasJsonBody,
  mayStreamEvents,
  methodOf,
  type NamedFile,
  objectsOf,
  type RelayRoute,
} from './relay-route.js';
import { type JsonAnswer, replyJson, streamTo } from './relay-reply.js';
import type { ResourceArea } from './resource-area.js';
import { withSunset } from './sunset.js';
import { withUnknownOutcome } from './unknown-outcome.js';

/** A status of a provider's object that a message may repeat. */
const STATUS = /^[a-z_]{1,32}$/;

export interface RelayRun extends Omit<RelayRequestParts, 'body'> {
  readonly area: ResourceArea;
  readonly route: RelayRoute;
  readonly context: ProviderContext;
  readonly request: Request;
  readonly response: Response;
  /** Observes the attempts to start a job. */
  readonly observer?: AttemptObserver | undefined;
  /** Reads the job in an answer that is a stream of events. */
  readonly events?: BodyFilter | undefined;
}

/** Runs one row of a table of routes against the provider of the request's virtual key. */
@Injectable()
export class RelayService {
  constructor(
    private readonly calls: ProviderCallService,
    private readonly isolation: Isolation,
    private readonly limits: UsedUpLimits,
    private readonly meters: DeferredMeters,
    private readonly deferred: DeferredCalls,
    private readonly keeper: JobKeeper,
    private readonly offered: OfferedEndpoints,
  ) {}

  /** Registers the endpoints of an area as relayed. Meters register those that they meter. */
  offer({ routes, providers }: ResourceArea): void {
    const endpoints = [...new Set(routes.map(endpointOf))];
    this.offered.add(
      endpoints.flatMap((endpoint) =>
        providers.map(({ slug: provider }) => ({ endpoint, provider, isMetered: false })),
      ),
    );
  }

  async run(run: RelayRun): Promise<void> {
    const { area, route, context, request } = run;
    const provider = area.providers.find(({ slug }) => slug === context.virtualKey.provider.slug);
    if (provider === undefined) {
      const others = area.providers.map(({ slug }) => slug).join(', ');
      throw notSupported(`These do: ${others}.`);
    }
    const given = toOperationInput(route, { ...run, body: request.body });
    const input = withoutOptions(context, given, unsupportedOptions(provider, route, context.virtualKey.provider));
    const model = modelOf(input.body);
    assertModels(context, route, input.body);
    if (isSpending(route, input.body)) await this.limits.assertRoom(context, { endpoint: endpointOf(route), model });
    try {
      await this.serve(run, provider, input);
    } catch (error) {
      throw withUnknownOutcome(withSunset(shapeToError(error), provider), route);
    }
  }

  private async serve(run: RelayRun, provider: ResourceProvider, input: OperationInput): Promise<void> {
    const { route, context, response, request } = run;
    const ownership = this.isolation.ownershipOf(context);
    // Only providers of OpenAI's API store the files that bodies name. Others name files in the customer's own storage.
    const objects = objectsOf(route);
    const guarded = provider.kind === 'relay' ? objects : { ...objects, uses: [], produces: [] };
    await this.isolation.assertOwn(ownership, guarded, input);
    const account = callerAccount(context.virtualKey.credential.options, request.headers);
    const own = { ...run, context: { ...context, account } };
    const answer = await this.started(own, input, (current, bytes) =>
      ownership.strict
        ? this.askStrictly(current, provider, input, ownership)
        : this.ask(current, provider, input, bytes),
    );
    // The response has been streamed.
    if (answer === undefined) return;
    await this.isolation.record(ownership, guarded, answer.json);
    replyJson(response, answer);
    const kind = route.shows ?? objects.about?.kind ?? objects.lists;
    if (kind !== undefined) void this.keeper.settleFinished(own.context, kind, answer.json);
  }

  /** Runs an operation, and meters the job that it starts, if it starts one. */
  private async started(
    run: RelayRun,
    input: OperationInput,
    ask: (run: RelayRun, bytes: Buffer | undefined) => Promise<JsonAnswer | undefined>,
  ): Promise<JsonAnswer | undefined> {
    const { route, context } = run;
    const { slug } = context.virtualKey.provider;
    const isMetered = route.startsJob === true || route.continuesJob === true;
    const meter = isMetered ? this.meters.ofOperation(route.operation, slug) : undefined;
    const call = meter === undefined ? undefined : await this.meteredCall(run, meter, input);
    // One deadline for all calls of a list or a mapped operation. Planning a job is not included: its files may be large.
    const timed = { ...run, context: this.calls.withOneDeadline(context) };
    if (call === undefined) return ask(timed, checkedBytes(context, input));
    const events = new JobEvents(call.meter.events, (object) => this.deferred.named(call, object));
    try {
      const answer = await ask(
        { ...timed, observer: call, events },
        route.startsJob === true ? bytesOf(call, context, input) : checkedBytes(context, input),
      );
      if (answer !== undefined) await this.deferred.succeeded(call, answer.json);
      else if (events.latest === undefined) await this.deferred.succeeded(call, undefined);
      return answer;
    } catch (error) {
      if (events.latest === undefined) await this.deferred.failed(call, error);
      throw error;
    } finally {
      await call.named;
      if (events.latest !== undefined) await this.keeper.conclude(call, context, events.latest);
    }
  }

  private meteredCall(
    { route, context }: RelayRun,
    meter: DeferredMeter,
    { params, body = {} }: OperationInput,
  ): Promise<DeferredCall | undefined> {
    return route.continuesJob === true
      ? this.deferred.resume(context, meter, params)
      : this.deferred.begin(context, meter, { params, body });
  }

  /** Runs an operation for an isolated caller: checks the objects of the request and records the new ones. */
  private async askStrictly(
    run: RelayRun,
    provider: ResourceProvider,
    input: OperationInput,
    ownership: Ownership,
  ): Promise<JsonAnswer | undefined> {
    const { lists, creates, uses } = objectsOf(run.route);
    if (lists !== undefined) {
      const ask = async (page: OperationInput): Promise<unknown> => (await this.ask(run, provider, page))?.json;
      return { status: 200, json: await listOwn(input, ask, (ids) => this.isolation.owned(ownership, lists, ids)) };
    }
    const sent = checkedBytes(run.context, input);
    // The body is written again, because of two fields with one name the provider might read the unchecked one.
    const bytes = uses.length === 0 || sent === undefined ? sent : Buffer.from(JSON.stringify(input.body));
    if (creates === undefined) return this.ask(run, provider, input, bytes);
    if (asksForStream(input.body)) {
      const message = 'stream must not be set here: the virtual key isolates workspaces, and records what they make.';
      throw new GatewayError('unsupported_parameter', { param: 'stream', message });
    }
    const route = run.route.kind === 'create' ? { ...run.route, mayStream: false } : run.route;
    return this.ask({ ...run, route }, provider, input, bytes);
  }

  /** Calls the provider. Returns a response in OpenAI's format; undefined when it was streamed to the caller. */
  private async ask(
    run: RelayRun,
    provider: ResourceProvider,
    input: OperationInput,
    bytes?: Buffer,
  ): Promise<JsonAnswer | undefined> {
    const { route, context, request } = run;
    const ownership = this.isolation.ownershipOf(context);
    const key = methodOf(route) === 'POST' ? idempotencyKey(request.headers, ownership) : undefined;
    if (provider.kind === 'mapped') {
      // The key always contains the workspace, because all workspaces share the account.
      return this.askMapped(run, provider, key === undefined ? input : { ...input, changeKey: ownKey(ownership, key) });
    }
    const target = await this.targetOf(run, input, bytes);
    const headers = {
      ...betaHeader(request.headers),
      ...context.account,
      ...rangeHeaders(route, request.headers),
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    };
    const operation = operationOf(route, input.body, { ...target, headers });
    const isStreamed = route.kind === 'upload' || route.kind === 'download' || mayStreamEvents(route);
    const answer = isStreamed
      ? await this.stream(run, operation)
      : await this.calls.run(context, operation, run.observer);
    return answer === undefined ? undefined : this.read(run, provider, input, answer);
  }

  private async targetOf(
    { route, context }: RelayRun,
    input: OperationInput,
    bytes: Buffer | undefined,
  ): Promise<ProviderRequest> {
    if (route.kind === 'download' && route.file !== undefined) {
      return fileContentRequest(await this.fileId(context, route, route.file, input));
    }
    return toProviderRequest(route, input, hasJsonBody(route) ? bytes : undefined);
  }

  /** Calls the provider with streamed bodies. Returns undefined when the answer was streamed to the caller. */
  private async stream(
    { route, context, request, response, observer, events }: RelayRun,
    operation: ProviderOperation,
  ): Promise<UpstreamAnswer | undefined> {
    const streams = {
      upload: route.kind === 'upload' ? request : undefined,
      accept: request.headers.accept,
      takesEvents: mayStreamEvents(route),
      sinkFor: streamTo(route, response),
      filter: events,
    };
    const { status, headers, body } = await this.calls.relay(context, operation, streams, observer);
    return body === undefined ? undefined : { status, headers, body };
  }

  /** @throws GatewayError `not_found` while the object names no file */
  private async fileId(
    context: ProviderContext,
    route: RelayRoute,
    { objectPath, field }: NamedFile,
    input: OperationInput,
  ): Promise<string> {
    const target = toProviderRequest({ kind: 'retrieve', path: objectPath }, input, undefined);
    const request = { ...target, headers: context.account };
    const answer = await this.calls.run(context, operationOf(route, undefined, request));
    const object = this.calls.readOrRefuse(context, answer, () => readObject(parseProviderResult(answer), 'body'));
    const { about } = objectsOf(route);
    if (about !== undefined) void this.keeper.settleFinished(context, about.kind, object);
    const id = object[field];
    if (typeof id === 'string') return id;
    const { status } = object;
    const known = typeof status === 'string' && STATUS.test(status) ? status : 'unknown';
    throw new GatewayError('not_found', { message: `There is no ${field} yet. The status is ${known}.` });
  }

  private read(
    { route, context }: RelayRun,
    provider: Extract<ResourceProvider, { kind: 'relay' }>,
    { params, query }: OperationInput,
    answer: UpstreamAnswer,
  ): JsonAnswer {
    if (methodOf(route) !== 'GET') this.calls.assertDone(context, answer);
    const asked = { params, after: query['after'], before: query['before'] };
    return this.calls.readOrRefuse(context, answer, () => normaliseAnswer(provider, route, asked, answer));
  }

  private async askMapped(
    { route, context, observer }: RelayRun,
    provider: MappedProvider,
    input: OperationInput,
  ): Promise<JsonAnswer> {
    const mapped = provider.operations[route.operation];
    if (mapped === undefined) throw notSupported(`It offers ${Object.keys(provider.operations).join(', ')}.`);
    const ask = async (request: ProviderRequest): Promise<unknown> => {
      // Reads that the operation needs do not decide whether a job was made.
      const attempts = request.method === 'GET' ? undefined : observer;
      const answer = await this.calls.run(context, operationOf(route, input.body, request), attempts);
      this.calls.assertDone(context, answer);
      return answer.body.length === 0 ? undefined : parseProviderJson(answer);
    };
    return { status: 200, json: await mapped(input, ask, context.virtualKey.credential) };
  }
}

/** Checks every model that the call may use: also nested ones, such as that of a grader, and those that no field names. */
function assertModels(
  { principal, virtualKey, modelNames }: ProviderContext,
  route: RelayRoute,
  body?: JsonObject,
): void {
  if (!restrictsModels(principal)) return;
  const isModelNamed = route.models === 'in_body' && modelOf(body) !== undefined;
  if (route.models !== undefined && !isModelNamed) assertEveryModelAllowed(principal);
  const served = modelOf(body);
  for (const model of usedIds(body, 'model')) {
    assertModelAllowed(principal, virtualKey, model, model === served ? modelNames?.route?.name : undefined);
  }
}

function isSpending({ spends }: RelayRoute, body: JsonObject | undefined): boolean {
  return spends === true || (spends !== undefined && hasField(body, spends));
}

function notSupported(instead: string): GatewayError {
  return new GatewayError('provider_not_supported', {
    message: `${ERROR_CODES.provider_not_supported.message} ${instead}`,
  });
}

/** Parameters that the provider, or this operation of it, does not have. */
function unsupportedOptions(
  provider: ResourceProvider,
  { operation }: RelayRoute,
  { hasApiVersion = false }: Provider,
): UnsupportedOptions {
  const fields = provider.kind === 'mapped' ? (provider.leavesOut?.[operation] ?? []) : [];
  return { fields, query: hasApiVersion ? fields : [API_VERSION, ...fields] };
}

/** Written again, because of two fields with one name the provider might read the file that was not counted. */
function bytesOf(call: DeferredCall, context: ProviderContext, input: OperationInput): Buffer | undefined {
  const isReserved = (call.made?.reserved.length ?? 0) > 0;
  return isReserved ? Buffer.from(JSON.stringify(input.body)) : checkedBytes(context, input);
}

/** Written again, because of two fields with one name the provider might read the model that was not checked. */
function checkedBytes({ principal, bytes }: ProviderContext, { body }: OperationInput): Buffer | undefined {
  return bytes === undefined || !restrictsModels(principal) ? bytes : Buffer.from(JSON.stringify(body));
}

function asksForStream(body: JsonObject = {}): boolean {
  return Object.entries(body).some(([name, value]) => isNamed(name, 'stream') && (value ?? false) !== false);
}

function modelOf(body: JsonObject | undefined): string | undefined {
  const model = body?.['model'];
  return typeof model === 'string' ? model : undefined;
}

/** Reads may be retried. Changes may be retried only when no connection was made. */
function operationOf(route: RelayRoute, body: JsonObject | undefined, request: ProviderRequest): ProviderOperation {
  return {
    operation: route.operation,
    model: modelOf(body),
    request,
    retry: request.method === 'GET' ? 'idempotent' : 'connect',
  };
}
