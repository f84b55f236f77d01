// The paths of Vertex AI's models, and their formats. Sources, read 2026-11-28:
// https://cloud.google.com/vertex-ai/generative-ai/docs/learn/locations, …/docs/partner-models/claude/use-claude,
// …/mistral, …/docs/embeddings/get-text-embeddings, …/count-tokens, …/docs/migrate/openai/overview,
// …/docs/reference/rest
import { GatewayError } from '../../../common/errors/gateway.error.js';
import { withMember } from '../../../common/json/scan.js';
import { baseUrl, serverOf } from '../build-request.js';
import type { DialectPath, DialectSlug, SentCall } from '../provider.types.js';
import { publishedModel } from './model-names.js';
import { inVertexForm } from './vertex-messages.js';

/** A project's id, an older id with its domain, or a number. */
export const GOOGLE_PROJECT = /^(?:(?:[a-z0-9-]{1,63}\.){1,4}[a-z]{2,63}:)?[a-z][a-z0-9-]{4,28}[a-z0-9]$|^\d{1,20}$/;
/**
 * Matches `us-east5`, `europe-west4`, `global`, `us`, `eu`. Dots are excluded, since a location becomes a label of a
 * host name.
 */
export const GOOGLE_LOCATION = /^(?=.{2,32}$)[a-z]+(?:-[a-z]+\d{1,2})?$/;

const DOMAIN = 'aiplatform.googleapis.com';
/** Locations of several regions, which have another form of host. */
const MULTI_REGIONS: ReadonlySet<string> = new Set(['us', 'eu']);
const CHATS = '/endpoints/openapi/chat/completions';
const MESSAGES = '/publishers/anthropic/models/';
const MISTRAL = '/publishers/mistralai/models/';
/** The other models with `:predict` are for images, audio and video. */
const TEXT_EMBEDDING = /^(?:text-embedding-|text-multilingual-embedding-|gemini-embedding-|textembedding-gecko)/;
const TOKEN_COUNT = `${MESSAGES}count-tokens:rawPredict`;
/** Appended to the path of messages. */
const COUNTS_TOKENS = /:rawPredict\/count_tokens$/;

interface PlaceOptions {
  readonly base_url?: string;
  readonly google_project?: string;
  readonly google_location?: string;
}

export const VERTEX_DIALECTS = {
  'anthropic-messages': (model, _options, isStream) => {
    const { publisher, name } = publishedModel(model);
    if (publisher !== 'anthropic') return undefined;
    return `${MESSAGES}${encoded(name)}:${isStream ? 'streamRawPredict' : 'rawPredict'}`;
  },
  // Only Anthropic's models have messages at Vertex, and they have no chats.
  'openai-chat': (model, _options, isStream) => {
    const { publisher, name } = publishedModel(model);
    if (publisher === 'mistralai') return `${MISTRAL}${encoded(name)}:${isStream ? 'streamRawPredict' : 'rawPredict'}`;
    return publisher === 'anthropic' ? undefined : CHATS;
  },
  'vertex-embeddings': (model) =>
    TEXT_EMBEDDING.test(publishedModel(model).name) ? ofGoogle(model, 'predict') : undefined,
  gemini: (model, _options, isStream) => ofGoogle(model, isStream ? 'streamGenerateContent' : 'generateContent'),
  'gemini-token-count': (model) => ofGoogle(model, 'countTokens'),
} satisfies Partial<Record<DialectSlug, DialectPath<PlaceOptions>>>;

function ofGoogle(model: string, operation: string): string | undefined {
  const { publisher, name } = publishedModel(model);
  return publisher === 'google' ? `/publishers/google/models/${encoded(name)}:${operation}` : undefined;
}

/** Encodes a name as Google's clients do, which keep the `@` before a version. */
function encoded(name: string): string {
  return encodeURIComponent(name).replaceAll('%40', '@');
}

/** Adapts a call to the format of Vertex. */
export function adapted({ path, body }: SentCall, model: string): SentCall {
  const { publisher, name } = publishedModel(model);
  if (path === CHATS) return { path, body: withMember(body, 'model', `${publisher}/${name}`) };
  if (path.startsWith(MISTRAL)) return { path, body: withMember(body, 'model', name.replace(/@.*$/, '')) };
  if (COUNTS_TOKENS.test(path)) return { path: TOKEN_COUNT, body: inVertexForm(body, name) };
  return path.startsWith(MESSAGES) ? { path, body: inVertexForm(body) } : { path, body };
}

/**
 * The base URL of a project's location, built only from validated parts.
 * @throws GatewayError `secret_unavailable`: a secret reference may have supplied invalid ones
 */
export function placeOf(options: PlaceOptions): URL {
  const project = checked(options, 'google_project', GOOGLE_PROJECT);
  const location = checked(options, 'google_location', GOOGLE_LOCATION);
  const server = options.base_url === undefined ? `https://${hostOf(location)}` : serverOf(baseUrl(options));
  return baseUrl({ base_url: `${server}/v1/projects/${project}/locations/${location}` });
}

function checked(options: PlaceOptions, name: 'google_project' | 'google_location', form: RegExp): string {
  const value = options[name];
  if (value !== undefined && form.test(value)) return value;
  throw new GatewayError('secret_unavailable', { reason: `config.${name} is not the name of one` });
}

function hostOf(location: string): string {
  if (location === 'global') return DOMAIN;
  return MULTI_REGIONS.has(location) ? `aiplatform.${location}.rep.googleapis.com` : `${location}-${DOMAIN}`;
}
