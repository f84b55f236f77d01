// Runs of the Assistants protocol, version 2. Source: https://platform.openai.com/docs/api-reference/runs, read 2026-11-28.
import { Injectable } from '@nestjs/common';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { type JsonObject, isObject, stringOrUndefined } from '../../common/json/read.js';
import {
  type DeferredMeter,
  DeferredMeters,
  type DoneCalls,
  type JobName,
  type JobPlan,
  type JobRequest,
} from '../../gateway/deferred/deferred-meter.js';
import { JobReader } from '../../gateway/deferred/job-reader.js';
import type { ProviderContext } from '../../gateway/provider-context.decorator.js';
import { readChatUsage } from '../../inference/dialects/openai-chat/chat-usage.js';
import { OfferedEndpoints } from '../../upstream/providers/offered-endpoints.js';
import { ASSISTANTS_PROVIDERS } from '../assistants-providers.js';
import { planOfRun, planOfStep, readRunFacts, type RunFacts } from './run-plan.js';

const ENDPOINT = 'threads';
const VERSION = { 'openai-beta': 'assistants=v2' } as const;
const ASSISTANTS = { path: '/assistants', area: 'assistants', headers: VERSION } as const;
const OVER: ReadonlySet<unknown> = new Set(['completed', 'incomplete', 'failed', 'cancelled', 'expired']);
/** OpenAI ends a run after ten minutes. What goes on is looked after for longer. */
const LIFETIME_MS = 900_000;
/** Between the ids of a thread and of its run. */
const SEPARATOR = '/';

/** Meters the runs of assistants. */
@Injectable()
export class RunMeter implements DeferredMeter {
  readonly endpoint = ENDPOINT;
  readonly operations = ['threads.runs.create', 'threads.create_and_run', 'threads.runs.submit_tool_outputs'];
  readonly kind = 'thread.run';
  readonly mode = 'standard';
  readonly showsUsage = true as const;
  readonly events = /^thread\.run\.[a-z_]+$/;

  constructor(
    private readonly reader: JobReader,
    meters: DeferredMeters,
    offered: OfferedEndpoints,
  ) {
    meters.add(this);
    offered.add(ASSISTANTS_PROVIDERS.map(({ slug }) => ({ endpoint: ENDPOINT, provider: slug, isMetered: true })));
  }

  isMeteredAt(provider: string): boolean {
    return ASSISTANTS_PROVIDERS.some(({ slug }) => slug === provider);
  }

  async planOf(context: ProviderContext, { body }: JobRequest): Promise<JobPlan> {
    const asked = readRunFacts(body);
    if (isWhole(asked)) return planOfRun(context, asked);
    const id = stringOrUndefined(body['assistant_id']);
    if (id === undefined) return { parts: [], unbounded: { field: 'assistant_id', reason: 'it names no assistant' } };
    try {
      const [assistant = {}] = await this.reader.read(context, ASSISTANTS, id);
      const { model, tools } = readRunFacts(assistant);
      return planOfRun(context, { ...asked, model: asked.model ?? model, tools: asked.tools ?? tools });
    } catch (error) {
      const status = error instanceof GatewayError ? error.provider?.status : undefined;
      const reason = `the assistant cannot be read${status === undefined ? '' : `: ${status}`}`;
      return { parts: [], unbounded: { field: 'assistant_id', reason } };
    }
  }

  /** A run has its model and its tools. */
  stepOf(context: ProviderContext, { body }: JobRequest): Promise<JobPlan> {
    return Promise.resolve(planOfStep(context, readRunFacts(body)));
  }

  traitsOf({ params, body }: JobRequest): JsonObject {
    return { thread_id: params['thread_id'], assistant_id: body['assistant_id'] };
  }

  lifetimeMs(): number {
    return LIFETIME_MS;
  }

  idOf({ thread_id: thread, id }: JsonObject): string | undefined {
    const isNamed = [thread, id].every((part) => typeof part === 'string' && !part.includes(SEPARATOR));
    return isNamed ? `${String(thread)}${SEPARATOR}${String(id)}` : undefined;
  }

  idIn({ thread_id: thread = '', run_id: run = '' }: JobRequest['params']): string {
    return thread + SEPARATOR + run;
  }

  /** A run whose thread was made with it can only be found by its id. */
  async read(context: ProviderContext, { upstreamId, traits }: JobName): Promise<readonly JsonObject[]> {
    const [thread, run, ...more] = upstreamId === null ? [traits['thread_id'], null] : upstreamId.split(SEPARATOR);
    if (typeof thread !== 'string' || more.length > 0) return [];
    const path = `/threads/${encodeURIComponent(thread)}/runs`;
    return this.reader.read(context, { path, area: 'threads.runs', headers: VERSION }, run ?? null);
  }

  isOver({ status }: JsonObject): boolean {
    return OVER.has(status);
  }

  usageOf(_context: ProviderContext, run: JsonObject): Promise<readonly DoneCalls[] | undefined> {
    return Promise.resolve(doneIn(run));
  }
}

function isWhole({ model, tools }: RunFacts): boolean {
  return model !== undefined && tools !== undefined;
}

function doneIn(run: JsonObject): readonly DoneCalls[] | undefined {
  const model = stringOrUndefined(run['model']);
  const used = usageIn(run);
  const isUsed = Object.values(used ?? {}).some((count) => (count ?? 0) > 0);
  // Some servers write zeros where they count nothing.
  if (isUsed && used !== undefined) return [{ model, calls: [used] }];
  const isDone = run['status'] === 'completed' || run['status'] === 'incomplete';
  const hasWorked = used === undefined && (run['started_at'] ?? null) !== null;
  return isDone || hasWorked ? undefined : [{ model, calls: [] }];
}

/** Its details have another name than those of chats. */
function usageIn({ usage }: JsonObject): ReturnType<typeof readChatUsage> {
  if (!isObject(usage)) return undefined;
  return readChatUsage({ prompt_tokens_details: usage['prompt_token_details'], ...usage });
}
