import type { FieldProblem } from '../../common/errors/gateway.error.js';
import type { CallerAccount } from './caller-account.js';
import type { OnDisconnect } from './on-disconnect.js';
import type { ServerOptions } from './server-options.js';
import type { RequestSigner, UpstreamHead, UpstreamRequest } from '../upstream.types.js';

export const PROVIDER_SLUGS = [
  'cohere',
  'voyage',
  'jina',
  'pinecone',
  'bedrock',
  'azure-ai',
  'openai',
  'azure-openai',
  'openai-compatible',
  'anthropic',
  'gemini',
  'vertex',
  'groq',
  'mistral',
  'deepseek',
  'moonshot',
  'xai',
  'together',
  'fireworks',
  'openrouter',
  'ollama',
  'vllm',
  'lm-studio',
  'local',
] as const;

export type ProviderSlug = (typeof PROVIDER_SLUGS)[number];

/** Options that every provider takes. A provider's own class adds its fields. */
export interface BaseProviderOptions extends ServerOptions {
  readonly base_url?: string;
  readonly timeout_ms?: number;
  /** The model whose prices and bounds count, whatever the deployment is called. */
  readonly base_model?: string;
  /** Of calls of models; absent: `abort`. */
  readonly on_disconnect?: OnDisconnect;
  /** Of OpenAI's organisation and project; absent: `ignore`. */
  readonly caller_account?: CallerAccount;
}

/** What a virtual key opens: the provider's key (if it has one) and the options, secrets included. Lives in memory only. */
export interface Credential<Options extends BaseProviderOptions = BaseProviderOptions> {
  readonly key: string | undefined;
  readonly options: Options;
  /** Whose credential it is: decides whether the gateway's own cloud identity may be used. */
  readonly organisationId: string;
  /**
   * One list of host patterns for each secret reference in it. Each list must allow the host of a call. Absent: every
   * host is allowed.
   */
  readonly allowedHosts?: readonly (readonly string[])[];
}

/** Where and how a request goes, before the provider's address and credential are added. */
export interface ProviderRequest {
  readonly method: UpstreamRequest['method'];
  /** Absolute path with encoded segments, e.g. `/v2/rerank`. */
  readonly path: string;
  /** Query parameters, not encoded. Never part of `path`: there a `?` is an ordinary character. */
  readonly query?: Readonly<Record<string, string | readonly string[]>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** JSON that is sent as it is, instead of `body`. */
  readonly bytes?: Buffer | undefined;
  /** The region that the request is for, for providers with one address a region. */
  readonly region?: string;
  /**
   * `control` for what manages the provider's own objects (jobs), where those have another host than the models; `files` for the
   * files of jobs, where they are kept elsewhere.
   */
  readonly plane?: 'control' | 'files';
}

/**
 * Calls the provider once and returns the parsed body of a 2xx response, undefined when it is empty. Throws
 * GatewayError for any other response.
 */
export type Ask = (request: ProviderRequest) => Promise<unknown>;

/** The forms of requests and answers that the gateway relays without changing them. */
export type DialectSlug =
  | 'openai-chat'
  | 'openai-completions'
  | 'openai-responses'
  | 'openai-embeddings'
  | 'anthropic-messages'
  | 'bedrock-converse'
  | 'bedrock-invoke'
  | 'bedrock-token-count'
  | 'gemini'
  | 'gemini-token-count'
  | 'gemini-embeddings'
  | 'vertex-embeddings';

/** The path of the requests of a dialect for a model; undefined where these options have none. */
export type DialectPath<Options> = (model: string, options: Options, isStream: boolean) => string | undefined;

/** Where a call of a dialect goes, and with which body. */
export interface SentCall {
  readonly path: string;
  readonly body: Buffer;
}

/** One provider: its address and its credential. One file each in this folder. */
export interface Provider<Options extends BaseProviderOptions = BaseProviderOptions> {
  readonly slug: ProviderSlug;
  readonly name: string;
  /** class-validator class of the virtual key's `config`; fields marked `@Sensitive()` are sealed at rest. */
  readonly optionsClass: new () => Options;
  /** Whether a virtual key must hold `key`, may, or must not. */
  readonly key: 'required' | 'optional' | 'none';
  /** Rules between the fields, and about what must be there; one problem for each broken rule. */
  checkOptions?(options: Options, key: string | undefined): readonly FieldProblem[];
  /** Adds address and credential headers. Throws GatewayError when the options cannot be used. */
  address(request: ProviderRequest, credential: Credential<Options>): UpstreamRequest;
  /** The dialects that it speaks. */
  readonly dialects?: Readonly<Partial<Record<DialectSlug, DialectPath<Options>>>>;
  /** The call as it takes it, where that is not wholly the form of the dialect. Pure. */
  adapt?(call: SentCall, model: string): SentCall;
  /** The name of a model on price lists, where it has another price with these options; undefined: its own. */
  listedModel?(model: string, options: Options): string | undefined;
  /** Whether its models may write tokens that the answer does not show, and that are paid. */
  readonly hidesReasoning?: boolean;
  /** Whether its streams report their usage without being asked, and a request that asks for it is refused. */
  readonly reportsStreamUsage?: boolean;
  /** Where its answers say what they cost. */
  readonly costField?: ServerOptions['cost_field'];
  /** Where messages of a chat take back what its models thought. */
  readonly reasoningField?: ServerOptions['reasoning_field'];
  /** Whether requests may name the version of the API in the query's `api-version`. */
  readonly hasApiVersion?: boolean;
  /** Whether its servers may have no responses, although they get those that are asked for. */
  readonly mayLackResponses?: boolean;
  /** Whether it knows `?beta=true` of messages, which Anthropic's clients send besides their header. */
  readonly hasBetaMessages?: boolean;
  /** Whether its newer models refuse `max_tokens` of a chat, and take `max_completion_tokens` alone. */
  readonly refusesMaxTokens?: boolean;
  /** Signs each attempt, for providers whose signature covers the body and the time; undefined where the credential signs nothing. */
  signer?(credential: Credential<Options>): RequestSigner | undefined;
  /** Statuses besides 401 and 403 that mean that the credential was refused. */
  readonly credentialStatuses?: readonly number[];
  /** Where a 403 can mean that the credential itself was refused: whether this one does. */
  refusesCredential?(head: UpstreamHead): boolean;
  /** A cheap request that shows whether the credential works; `accepts` lists the statuses of success. */
  readonly probe: { readonly request: ProviderRequest; readonly accepts: readonly number[] } | undefined;
}

/** One of the names of a model. */
export interface ModelName {
  readonly text: string;
  /**
   * Length of what makes it another spelling, as `cohere.` or `arn:` at its beginning: a shorter beginning of names (`co*`) does
   * not mean it. 0 for the canonical name.
   */
  readonly markLength: number;
}

/**
 * For providers that know a model by several names. All names are folded (see `foldModel` of the usage room). More generous
 * than the provider itself: what is taken for a spelling of a model here, and refused there, costs nothing; the other way round a
 * cap could be evaded.
 */
export interface ModelNames {
  /** The one that policies, groups and the ledger know. */
  canonical(name: string): string;
  /** Others that a policy may have for it. */
  aliases(name: string): readonly ModelName[];
  /** Those under which it may have a price, in groups: an earlier group takes precedence; left out: all of them, as one group. */
  priced?(name: string): readonly (readonly ModelName[])[];
}
