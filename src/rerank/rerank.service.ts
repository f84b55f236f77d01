import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { GatewayError, invalidField } from '../common/errors/gateway.error.js';
import { UnexpectedShapeError } from '../common/json/read.js';
import type { BillableUse, ReportedUsage } from '../gateway/billable-use.js';
import type { ProviderContext } from '../gateway/provider-context.decorator.js';
import { ProviderCallService, type ProviderOperation } from '../gateway/provider-call.service.js';
import { Metrics } from '../telemetry/metrics.js';
import { shapeToError } from '../upstream/provider-error.js';
import { OfferedEndpoints } from '../upstream/providers/offered-endpoints.js';
import { joinParts, rank } from './rank.js';
import { RERANK_PROVIDERS, RERANK_PROVIDERS_BY_SLUG } from './rerank-provider.registry.js';
import type {
  RankedRerank,
  RemoteRerankProvider,
  RerankOutcome,
  RerankProvider,
  RerankRequest,
} from './rerank.types.js';
import { assertStrict, toWarning, unsupportedOptions, withoutOptions } from './unsupported-options.js';

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
    offered: OfferedEndpoints,
  ) {
    offered.add(RERANK_PROVIDERS.map(({ slug }) => ({ endpoint: OPERATION, provider: slug, isMetered: true })));
  }

  async run(context: ProviderContext, asked: RerankRequest): Promise<RerankAnswer> {
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
        outcome = await this.callProvider(context, provider, request);
      } else {
        outcome = await this.callInParts(this.calls.withOneDeadline(context), provider, request);
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
    note?: (answer: unknown) => void,
  ): Promise<RerankOutcome> {
    const operation: ProviderOperation = {
      operation: OPERATION,
      model: request.model,
      request: provider.toUpstream(request, context.virtualKey.credential.options),
      retry: 'idempotent',
    };
    return this.calls.runBillable(context, operation, useOf(provider, request), (answer) => {
      note?.(answer);
      return provider.fromUpstream(answer, request);
    });
  }

  /** Fetches further pages while the provider reports more. All pages belong to one call, billed once. */
  private async callInParts(
    context: ProviderContext,
    provider: RemoteRerankProvider,
    request: RerankRequest,
  ): Promise<RerankOutcome> {
    let answer: unknown;
    const parts = [await this.callProvider(context, provider, request, (first) => (answer = first))];
    let next = provider.nextPage?.(answer, request);
    while (next !== undefined) {
      if (parts.length === MAX_PARTS) throw new UnexpectedShapeError(`at most ${MAX_PARTS} parts`, 'the answer');
      const operation: ProviderOperation = {
        operation: OPERATION,
        model: request.model,
        request: next,
        retry: 'idempotent',
      };
      answer = await this.calls.runJson(context, operation);
      parts.push(provider.fromUpstream(answer, request));
      next = provider.nextPage?.(answer, request);
    }
    return joinParts(parts);
  }
}

function useOf(provider: RerankProvider, request: RerankRequest): BillableUse<RerankOutcome> {
  return { endpoint: OPERATION, model: request.model, estimate: () => provider.estimate(request), usageOf: reported };
}

function reported({ searchUnits, totalTokens, isUsageComputed }: RerankOutcome): ReportedUsage {
  return { counts: { search_unit: searchUnits, input: totalTokens }, isComputed: isUsageComputed };
}
