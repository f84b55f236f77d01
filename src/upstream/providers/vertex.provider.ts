// Google's Vertex AI, by now a part of its Agent Platform. Addresses and forms: vertex/vertex-endpoints.ts; tokens: ../google/.
import { IsIn, IsString, Matches, MaxLength } from 'class-validator';
import { fieldError, type FieldProblem } from '../../common/errors/gateway.error.js';
import { UnexpectedShapeError } from '../../common/json/read.js';
import { Optional } from '../../common/validation/optional.decorator.js';
import { MAX_CREDENTIALS_CHARACTERS, readGoogleCredentials } from '../google/google-credentials.js';
import {
  GOOGLE_AUTH_TYPES,
  type GoogleAuthType,
  type GoogleOptions,
  type GoogleTokenSource,
} from '../google/google-tokens.js';
import { BaseModel } from './base-model.js';
import { bearer, buildRequest, joinUrl } from './build-request.js';
import { IsOnDisconnect, type OnDisconnect } from './on-disconnect.js';
import { missingOptions, unusedOptions } from './option-rules.js';
import { ProviderOptions } from './provider-options.js';
import type { Provider } from './provider.types.js';
import { API_SUPPORT, OneOf, type ServerOptions } from './server-options.js';
import { Sensitive } from './sensitive.decorator.js';
import { atRegions, publishedModel, vertexModelNames } from './vertex/model-names.js';
import { adapted, GOOGLE_LOCATION, GOOGLE_PROJECT, placeOf, VERTEX_DIALECTS } from './vertex/vertex-endpoints.js';

const PLACE_FIELDS = ['google_project', 'google_location'] as const;
const CREDENTIAL_FIELDS = ['google_auth_type', 'google_credentials'] as const;

export class VertexOptions extends ProviderOptions implements GoogleOptions {
  /** Id or number of the project that is billed. */
  @Optional()
  @Matches(GOOGLE_PROJECT, { message: '$property must be the id or the number of a project' })
  readonly google_project?: string;

  /** Location that models are called in: a region such as europe-west4, `us`, `eu` or `global`. */
  @Optional()
  @Matches(GOOGLE_LOCATION, { message: '$property must be a region such as europe-west4, or us, eu or global' })
  readonly google_location?: string;

  /** Which identity calls: the one in `google_credentials` (default), or that of the machine or pod of the gateway. */
  @Optional()
  @IsIn(GOOGLE_AUTH_TYPES)
  readonly google_auth_type?: GoogleAuthType;

  /** The JSON file of a service account's key, or of an external account (workload identity federation), as a text. */
  @Optional()
  @IsString()
  @MaxLength(MAX_CREDENTIALS_CHARACTERS)
  @Sensitive()
  readonly google_credentials?: string;

  /** What becomes of a call whose client leaves: `abort` (default) ends it, `drain` reads it to its end, to know what it costs. */
  @IsOnDisconnect()
  readonly on_disconnect?: OnDisconnect;

  /** How chats with Gemini are sent: in OpenAI's form (`native`, the default), or translated to Gemini's own API (`translate`). */
  @OneOf(API_SUPPORT)
  readonly chats?: ServerOptions['chats'];

  /** The model whose prices and bounds count, for a model whose name says nothing about it. */
  @BaseModel()
  readonly base_model?: string;
}

/** Creates the provider with a source of access tokens, which the gateway requests from Google. */
export function createVertexProvider(tokens: Pick<GoogleTokenSource, 'resolve' | 'forget'>): Provider<VertexOptions> {
  return {
    slug: 'vertex',
    name: 'Google Vertex AI',
    optionsClass: VertexOptions,
    key: 'optional',
    checkOptions: (options, key) => [
      ...missingOptions(options, PLACE_FIELDS),
      ...(key === undefined ? identityProblems(options) : unusedOptions(options, CREDENTIAL_FIELDS, 'with key')),
    ],
    address(request, credential) {
      const url = joinUrl(placeOf(credential.options), request);
      return buildRequest(url, request, credential.key === undefined ? {} : bearer(credential));
    },
    signer(credential) {
      // An access token is sent unchanged.
      if (credential.key !== undefined) return undefined;
      let used: string | undefined;
      return {
        async sign(request) {
          used = await tokens.resolve(credential, request.url);
          return { ...request, headers: { ...request.headers, authorization: `Bearer ${used}` } };
        },
        renew: ({ status }) => used !== undefined && status === 401 && tokens.forget(credential, used),
      };
    },
    dialects: VERTEX_DIALECTS,
    adapt: adapted,
    listedModel: (model, { google_location: location }) =>
      location === 'global' || publishedModel(model).publisher !== 'anthropic'
        ? undefined
        : atRegions(vertexModelNames.canonical(model)),
    hidesReasoning: true,
    // Lists the project's own objects: free of charge, and with the same role as calls of models.
    probe: { request: { method: 'GET', path: '/cachedContents', query: { pageSize: '1' } }, accepts: [200] },
  };
}

function identityProblems(options: VertexOptions): readonly FieldProblem[] {
  const { google_auth_type: type = 'credentials', google_credentials: text } = options;
  if (type === 'metadata') return unusedOptions(options, ['google_credentials'], 'with google_auth_type metadata');
  if (text === undefined) return missingOptions(options, ['google_credentials'], 'without key');
  try {
    readGoogleCredentials(text);
    return [];
  } catch (error) {
    if (!(error instanceof UnexpectedShapeError)) throw error;
    return [fieldError('config.google_credentials', `must be a credentials file of Google Cloud: ${error.message}`)];
  }
}
