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

/** The options of every provider. A provider's own class adds fields. */
export interface BaseProviderOptions extends ServerOptions {
  readonly base_url?: string;
  readonly timeout_ms?: number;
  /** The model whose prices and limits apply, for any name of the deployment. */
  readonly base_model?: string;
  /** Applies to calls of models; absent means `abort`. */
  readonly on_disconnect?: OnDisconnect;
  /** How the caller's OpenAI organisation and project are treated; absent means `ignore`. */
  readonly caller_account?: CallerAccount;
}

/** The contents of a virtual key: the provider's key (if any) and the options, including secrets. In memory only. */
export interface Credential<Options extends BaseProviderOptions = BaseProviderOptions> {
  readonly key: string | undefined;
  readonly options: Options;
  /** The owner of the credential. Decides whether the gateway's own cloud identity may be used. */
  readonly organisationId: string;
  /**
   * One list of host patterns for each secret reference in the credential. Each list must allow the host of a call.
   * Absent when every host is allowed.
   */
  readonly allowedHosts?: readonly (readonly string[])[];
}

/** A request before the provider's address and credential are added. */
export interface ProviderRequest {
  readonly method: UpstreamRequest['method'];
  /** Absolute path with encoded segments, e.g. `/v2/rerank`. */
  readonly path: string;
  /** Query parameters, not encoded. They are never part of `path`, where a `?` is an ordinary character. */
  readonly query?: Readonly<Record<string, string | readonly string[]>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** JSON that is sent unchanged, instead of `body`. */
  readonly bytes?: Buffer | undefined;
  /** The region of the request, for providers with one address per region. */
  readonly region?: string;
  /**
   * `control` for requests that manage the provider's objects (jobs), when these have another host than the models.
   * `files` for the files of jobs, when these are stored elsewhere.
   */
  readonly plane?: 'control' | 'files';
}

/**
 * Calls the provider once and returns the parsed body of a 2xx response, undefined when it is empty. Throws
 * GatewayError for any other response.
 */
export type Ask = (request: ProviderRequest) => Promise<unknown>;

/** The formats of requests and answers that the gateway relays unchanged. */
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

/** The path of a dialect's requests for a model; undefined when the provider does not offer it with these options. */
export type DialectPath<Options> = (model: string, options: Options, isStream: boolean) => string | undefined;

/** The path and the body of a call. */
export interface SentCall {
  readonly path: string;
  readonly body: Buffer;
}

/** A provider: its address and its credential. Each has a file in this folder. */
export interface Provider<Options extends BaseProviderOptions = BaseProviderOptions> {
  readonly slug: ProviderSlug;
  readonly name: string;
  /** class-validator class of the virtual key's `config`; fields marked `@Sensitive()` are sealed at rest. */
  readonly optionsClass: new () => Options;
  /** Whether a virtual key must hold `key`, may, or must not. */
  readonly key: 'required' | 'optional' | 'none';
  /** Checks the rules between fields, and the required ones. Returns one problem for each broken rule. */
  checkOptions?(options: Options, key: string | undefined): readonly FieldProblem[];
  /** Adds address and credential headers. Throws GatewayError when the options cannot be used. */
  address(request: ProviderRequest, credential: Credential<Options>): UpstreamRequest;
  /** The dialects of the provider. */
  readonly dialects?: Readonly<Partial<Record<DialectSlug, DialectPath<Options>>>>;
  /** Adapts a call, for a provider that deviates from the dialect. Pure. */
  adapt?(call: SentCall, model: string): SentCall;
  /** The model's name on price lists, when it has another price with these options; undefined for its own name. */
  listedModel?(model: string, options: Options): string | undefined;
  /** Whether its models may write tokens that the answer does not show, but that are charged. */
  readonly hidesReasoning?: boolean;
  /** Whether its streams report usage unasked, and a request for it is refused. */
  readonly reportsStreamUsage?: boolean;
  /** The field in which its answers report their cost. */
  readonly costField?: ServerOptions['cost_field'];
  /** The field of a chat message in which it accepts earlier reasoning. */
  readonly reasoningField?: ServerOptions['reasoning_field'];
  /** Whether requests may name the version of the API in the query's `api-version`. */
  readonly hasApiVersion?: boolean;
  /** Whether its servers may lack the Responses API, although requests for it are sent to them. */
  readonly mayLackResponses?: boolean;
  /** Whether it accepts `?beta=true` for messages, which Anthropic's clients send besides their header. */
  readonly hasBetaMessages?: boolean;
  /** Whether its newer models refuse `max_tokens` in a chat, and accept only `max_completion_tokens`. */
  readonly refusesMaxTokens?: boolean;
  /**
   * Signs each attempt, for providers whose signature covers the body and the time; undefined when the credential needs
   * no signature.
   */
  signer?(credential: Credential<Options>): RequestSigner | undefined;
  /** Statuses of a refused credential, besides 401 and 403. */
  readonly credentialStatuses?: readonly number[];
  /** Whether a 403 means that the credential itself was refused, for providers that also use it for other errors. */
  refusesCredential?(head: UpstreamHead): boolean;
  /** A cheap request that tests the credential. `accepts` lists the statuses of success. */
  readonly probe: { readonly request: ProviderRequest; readonly accepts: readonly number[] } | undefined;
}

/** One of the names of a model. */
export interface ModelName {
  readonly text: string;
  /**
   * The length of the part that marks another spelling, such as `cohere.` or `arn:` at its start. A shorter pattern
   * (`co*`) does not match this name. 0 for the canonical name.
   */
  readonly markLength: number;
}

/**
 * For providers with several names of a model. All names are folded (see `foldModel` of the usage module). More
 * generous than the provider itself: an extra spelling that the provider refuses does no harm, while a missing one
 * would evade a cap.
 */
export interface ModelNames {
  /** The name in policies, groups and the ledger. */
  canonical(name: string): string;
  /** Other names of the model that a policy may contain. */
  aliases(name: string): readonly ModelName[];
  /**
   * Names under which it may have a price, in groups. An earlier group takes precedence. Absent when all names form one
   * group.
   */
  priced?(name: string): readonly (readonly ModelName[])[];
}
