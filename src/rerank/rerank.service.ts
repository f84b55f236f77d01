import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { GatewayError, invalidField } from '../common/errors/gateway.error.js';
import { UnexpectedShapeError } from '../common/json/read.js';
import type { BillableUse, ReportedUsage } from '../gateway/billable-use.js';
import { sumOfKnown } from '../gateway/model-answer.js';
import type { ProviderContext } from '../gateway/provider-context.decorator.js';
import { ProviderCallService, type ProviderOperation } from '../gateway/provider-call.service.js';
import { RoutedCalls } from '../gateway/routing/routed-calls.js';
import { Metrics } from '../telemetry/metrics.js';
import { shapeToError } from '../upstream/provider-error.js';
import type { ProviderRequest } from '../upstream/providers/provider.types.js';
import type { RetryMode } from '../upstream/upstream.types.js';
import { OfferedEndpoints } from '../upstream/providers/offered-endpoints.js';
import { RERANK_PROVIDERS, RERANK_PROVIDERS_BY_SLUG } from './rerank-provider.registry.js';
import {
  type RankedRerank,
  type RemoteRerankProvider,
  type RerankOutcome,
  type RerankProvider,
  type RerankRequest,
  FOREIGN_OPTIONS,
  RERANK_OPTIONS,
  type RerankOption,
  type RerankScore,
} from './rerank.types.js';

/** More pages than any provider's limit of documents allows. Stops a provider that never ends its pages. */
const MAX_PARTS = 100;

const OPERATION = 'rerank';

export interface RerankAnswer {
  readonly ranked: RankedRerank;
  readonly warnings: readonly string[];
}

@Injectable()
export class RerankService {
  constructor(
    private readonly calls: ProviderCallService,
    private readonly metrics: Metrics,
    private readonly routed: RoutedCalls,
    offered: OfferedEndpoints,
  ) {
    offered.add(RERANK_PROVIDERS.map(({ slug }) => ({ endpoint: OPERATION, provider: slug, isMetered: true })));
  }

  run(context: ProviderContext, asked: RerankRequest): Promise<RerankAnswer> {
    return this.routed.run(context, (current, { model, isTriedOnce, timeoutMs }) =>
      this.runAt(
        timeoutMs === undefined ? current : { ...current, deadlineMs: performance.now() + timeoutMs },
        model === undefined ? asked : { ...asked, model },
        // Another target answers sooner than this one would after a pause.
        isTriedOnce ? 'never' : 'idempotent',
      ),
    );
  }

  private async runAt(context: ProviderContext, asked: RerankRequest, retry: RetryMode): Promise<RerankAnswer> {
    const { facts } = context.request;
    // Set before anything can fail, so that the log line of a failure has them.
    context.request.noteModel(asked.model);
    facts.documents = asked.documents.length;
    const provider = RERANK_PROVIDERS_BY_SLUG.get(context.virtualKey.provider.slug);
    if (provider === undefined) throw new GatewayError('provider_not_supported');
    if (asked.documents.length > provider.maxDocuments) {
      throw invalidField('documents', `must have at most ${provider.maxDocuments} items for ${provider.slug}`);
    }
    const unsupported = unsupportedOptions(asked, provider);
    if (context.strict) assertStrict(asked, unsupported, provider);
    const request = unsupported.length === 0 ? asked : withoutOptions(asked, unsupported);
    let outcome: RerankOutcome;
    try {
      if (provider.kind === 'in_process') {
        const work = (): Promise<RerankOutcome> => provider.rerank(request);
        outcome = await this.calls.runInProcess(context, useOf(provider, request), work);
      } else if (provider.nextPage === undefined) {
        outcome = await this.callProvider(context, provider, request, retry);
      } else {
        outcome = await this.callInParts(this.calls.withOneDeadline(context), provider, request, retry);
      }
    } catch (error) {
      throw shapeToError(error);
    }
    const { searchUnits, totalTokens } = outcome;
    facts.search_units = searchUnits;
    facts.total_tokens = totalTokens;
    if (searchUnits) this.metrics.searchUnits.inc({ provider: provider.slug }, searchUnits);
    if (totalTokens) this.metrics.tokens.inc({ provider: provider.slug }, totalTokens);
    const ranked: RankedRerank = {
      request,
      outcome,
      id: outcome.id || `rerank-${randomUUID()}`,
      provider: provider.slug,
      results: rank(outcome.scores, request.topN),
    };
    return { ranked, warnings: unsupported.map((option) => toWarning(option, provider)) };
  }

  private callProvider(
    context: ProviderContext,
    provider: RemoteRerankProvider,
    request: RerankRequest,
    retry: RetryMode,
    page?: ProviderRequest,
    note?: (answer: unknown) => void,
  ): Promise<RerankOutcome> {
    const operation: ProviderOperation = {
      operation: OPERATION,
      model: request.model,
      request: page ?? provider.toUpstream(request, context.virtualKey.credential.options),
      retry,
    };
    return this.calls.runBillable(context, operation, useOf(provider, request), (answer) => {
      note?.(answer);
      return provider.fromUpstream(answer, request);
    });
  }

  /**
   * Fetches further pages while some of the wanted results are missing and each page brings new ones. Each is a call of its own,
   * reserved and billed: it has the whole request in it.
   */
  private async callInParts(
    context: ProviderContext,
    provider: RemoteRerankProvider,
    request: RerankRequest,
    retry: RetryMode,
  ): Promise<RerankOutcome> {
    const wanted = request.topN ?? request.documents.length;
    const tokens = new Set<string>();
    const found = new Set<number>();
    const parts: RerankOutcome[] = [];
    let page: ProviderRequest | undefined;
    while (parts.length < MAX_PARTS) {
      let answer: unknown;
      const part = await this.callProvider(context, provider, request, retry, page, (read) => (answer = read));
      parts.push(part);
      const before = found.size;
      for (const { index } of part.scores) found.add(index);
      const isDone = found.size === before || found.size >= wanted;
      const next = isDone ? undefined : provider.nextPage?.(answer, request);
      if (next === undefined || tokens.has(next.token)) return joinParts(parts);
      tokens.add(next.token);
      page = next.request;
    }
    throw new UnexpectedShapeError(`at most ${MAX_PARTS} parts`, 'the answer');
  }
}

function useOf(provider: RerankProvider, request: RerankRequest): BillableUse<RerankOutcome> {
  return { endpoint: OPERATION, model: request.model, estimate: () => provider.estimate(request), usageOf: reported };
}

function reported({ searchUnits, totalTokens, isUsageComputed }: RerankOutcome): ReportedUsage {
  return { counts: { search_unit: searchUnits, input: totalTokens }, isComputed: isUsageComputed };
}

const FIELDS = {
  max_tokens_per_doc: 'maxTokensPerDoc',
  priority: 'priority',
  rank_fields: 'rankFields',
  truncation: 'truncation',
  parameters: 'parameters',
} as const satisfies Record<(typeof RERANK_OPTIONS)[number], keyof RerankRequest>;

/** Options of the request that the provider does not have. */
export function unsupportedOptions(request: RerankRequest, provider: RerankProvider): readonly RerankOption[] {
  const unsupported: RerankOption[] = [];
  for (const option of RERANK_OPTIONS) {
    if (request[FIELDS[option]] !== undefined && !provider.options.has(option)) unsupported.push(option);
  }
  if (request.foreign === undefined) return unsupported;
  const { values } = request.foreign;
  return unsupported.concat(FOREIGN_OPTIONS.filter((option) => option in values && !provider.options.has(option)));
}

/** The request without its own options that the provider does not have. Providers pick foreign ones themselves. */
export function withoutOptions(request: RerankRequest, options: readonly RerankOption[]): RerankRequest {
  const own = RERANK_OPTIONS.filter((option) => options.includes(option));
  return own.reduce((rest, option) => ({ ...rest, [FIELDS[option]]: undefined }), request);
}

/**
 * With `x-gateway-strict`. Refuses other names of options too: a strict caller wants to know what it sends.
 * @throws GatewayError `unsupported_parameter` that names every one of them
 */
export function assertStrict(
  { foreign }: RerankRequest,
  unsupported: readonly RerankOption[],
  provider: RerankProvider,
): void {
  const renamed = foreign?.understood.filter((option) => !provider.options.has(option)) ?? [];
  const details = [...unsupported, ...renamed].map((param) => ({
    param,
    message: `${param} is not supported by ${provider.slug}`,
  }));
  if (details.length === 0) return;
  const message = details.map((detail) => detail.message).join('; ');
  throw new GatewayError('unsupported_parameter', { message, details });
}

/** One element of the `x-gateway-warnings` header. */
export function toWarning(option: RerankOption, provider: RerankProvider): string {
  return `unsupported_parameter; param=${option}; provider=${provider.slug}`;
}

/** Sorts by score, best first; equal scores keep the order of the documents. Cuts to `topN`. */
export function rank(scores: readonly RerankScore[], topN: number | undefined): readonly RerankScore[] {
  // Most providers return this order.
  const sorted = isRanked(scores)
    ? scores
    : scores.toSorted((a, b) => b.relevanceScore - a.relevanceScore || a.index - b.index);
  return topN === undefined ? sorted : sorted.slice(0, topN);
}

function isRanked(scores: readonly RerankScore[]): boolean {
  let before: RerankScore | undefined;
  for (const score of scores) {
    if (before !== undefined) {
      const isWorse = before.relevanceScore < score.relevanceScore;
      if (isWorse || (before.relevanceScore === score.relevanceScore && before.index > score.index)) return false;
    }
    before = score;
  }
  return true;
}

/** Joins the pages of an answer into one outcome. The first score of a document counts, and all pages are billed. */
export function joinParts(parts: readonly RerankOutcome[]): RerankOutcome {
  const [first, ...others] = parts;
  if (first === undefined) throw new UnexpectedShapeError('at least one part', 'the answer');
  if (others.length === 0) return first;
  const scores = new Map<number, RerankScore>();
  for (const part of parts)
    for (const score of part.scores) if (!scores.has(score.index)) scores.set(score.index, score);
  const searchUnits = sumOfKnown(parts.map((part) => part.searchUnits));
  const totalTokens = sumOfKnown(parts.map((part) => part.totalTokens));
  return { ...first, scores: [...scores.values()], searchUnits, totalTokens };
}
