// OpenAI. Source: https://platform.openai.com/docs/api-reference/authentication and …/docs/guides/error-codes, read 2026-11-21.
import { IsIn, Matches, MaxLength } from 'class-validator';
import { Optional } from '../../common/validation/optional.decorator.js';
import { CALLER_ACCOUNT, type CallerAccount } from './caller-account.js';
import { bearer, buildRequest, baseUrl, joinUrl } from './build-request.js';
import { VISIBLE_ASCII, VISIBLE_ASCII_OPTIONS } from '../../common/constants.js';
import { keyProblems } from './option-rules.js';
import { ResourceProviderOptions } from './resource-provider-options.js';
import type { Provider } from './provider.types.js';

export class OpenAiOptions extends ResourceProviderOptions {
  /** Organisation that usage is counted for, sent as `OpenAI-Organization`. */
  @Optional()
  @Matches(VISIBLE_ASCII, VISIBLE_ASCII_OPTIONS)
  @MaxLength(255)
  readonly organization?: string;

  /** Project that usage is counted for, sent as `OpenAI-Project`. */
  @Optional()
  @Matches(VISIBLE_ASCII, VISIBLE_ASCII_OPTIONS)
  @MaxLength(255)
  readonly project?: string;

  /**
   * `pass`: the caller's own `OpenAI-Organization` and `OpenAI-Project` are sent where this virtual key has none. `ignore`
   * (default): they are left out.
   */
  @Optional()
  @IsIn(CALLER_ACCOUNT)
  readonly caller_account?: CallerAccount;
}

/** The base URL ends in `/v1`, as in OpenAI's SDKs. Paths do not contain it. */
export const openai: Provider<OpenAiOptions> = {
  slug: 'openai',
  name: 'OpenAI',
  optionsClass: OpenAiOptions,
  key: 'required',
  checkOptions: (_options, key) => keyProblems('required', key),
  address(request, credential) {
    const { organization, project } = credential.options;
    return buildRequest(joinUrl(baseUrl(credential.options, 'https://api.openai.com/v1'), request), request, {
      ...bearer(credential),
      ...(organization === undefined ? {} : { 'openai-organization': organization }),
      ...(project === undefined ? {} : { 'openai-project': project }),
    });
  },
  dialects: {
    'openai-chat': () => '/chat/completions',
    'openai-completions': () => '/completions',
    'openai-responses': () => '/responses',
    'openai-embeddings': () => '/embeddings',
  },
  hidesReasoning: true,
  refusesMaxTokens: true,
  // Listing models is free and needs a valid key.
  probe: { request: { method: 'GET', path: '/models' }, accepts: [200] },
};
