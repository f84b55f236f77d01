import { z } from 'zod';
import type { CreateVirtualKeyRequest, Provider, UpdateVirtualKeyRequest, VirtualKey } from '../api/types.gen';
import { inWorkspace } from './in-workspace';
import { dayOf, endOfDay } from './format';

/** What the form asks for beside the key. Providers with more options are made through the API. */
type Asked = 'address' | 'key only' | 'place' | 'nothing' | 'only a name';

export const FORM_PROVIDERS: readonly (readonly [Provider, string, Asked])[] = [
  ['openai', 'OpenAI', 'key only'],
  ['anthropic', 'Anthropic', 'key only'],
  ['gemini', 'Google Gemini', 'key only'],
  ['vertex', 'Google Vertex AI', 'place'],
  ['groq', 'Groq', 'key only'],
  ['mistral', 'Mistral', 'key only'],
  ['deepseek', 'DeepSeek', 'key only'],
  ['moonshot', 'Moonshot', 'key only'],
  ['xai', 'xAI', 'key only'],
  ['together', 'Together', 'key only'],
  ['fireworks', 'Fireworks', 'key only'],
  ['openrouter', 'OpenRouter', 'key only'],
  ['cohere', 'Cohere', 'key only'],
  ['voyage', 'Voyage AI', 'key only'],
  ['jina', 'Jina AI', 'key only'],
  ['openai-compatible', 'A server that is compatible with OpenAI', 'address'],
  ['ollama', 'Ollama', 'address'],
  ['vllm', 'vLLM', 'address'],
  ['lm-studio', 'LM Studio', 'address'],
  ['local', 'The built-in reranker', 'nothing'],
];
const KEY_OPTIONAL: ReadonlySet<string> = new Set(['openai-compatible', 'ollama', 'vllm', 'lm-studio', 'local']);

const fields = z.object({
  name: z.string().trim().min(1, 'A virtual key needs a name.').max(255),
  slug: z
    .string()
    .regex(/^[a-z0-9][a-z0-9_-]*$/, 'Lower-case letters, digits, - and _.')
    .or(z.literal('')),
  description: z.string().trim().max(1_024),
  provider: z.string(),
  key: z.string().trim(),
  reference: z.string(),
  baseUrl: z.string().trim(),
  project: z.string().trim(),
  location: z.string().trim(),
  workspace: z.string(),
  /** A day, the last one; empty: it never ends. */
  ends: z.string(),
});

export type VirtualKeyValues = z.output<typeof fields>;

/** @param before absent: a new one is made, which needs a credential */
export function schemaOf(before: VirtualKey | undefined) {
  return fields
    .refine((values) => !lacksKey(values, before), { path: ['key'], message: 'The provider needs a key.' })
    .refine(({ provider, baseUrl }) => provider !== 'openai-compatible' || baseUrl !== '', {
      path: ['baseUrl'],
      message: 'Where does the server answer?',
    })
    .refine(({ provider, project }) => asks(provider) !== 'place' || project !== '', {
      path: ['project'],
      message: 'Which project pays?',
    })
    .refine(({ provider, location }) => asks(provider) !== 'place' || location !== '', {
      path: ['location'],
      message: 'Where are the models called?',
    });
}

export function valuesOf(before: VirtualKey | undefined): VirtualKeyValues {
  const provider = before?.provider ?? 'openai';
  return {
    name: before?.name ?? '',
    slug: '',
    description: before?.description ?? '',
    provider,
    key: '',
    reference: before === undefined ? '' : (referenceOf(before) ?? ''),
    baseUrl: optionOf(before, 'base_url'),
    project: optionOf(before, 'google_project'),
    location: optionOf(before, 'google_location'),
    workspace: '',
    ends: dayOf(before?.expires_at ?? null),
  };
}

export function newVirtualKey(values: VirtualKeyValues): CreateVirtualKeyRequest {
  const [provider] = FORM_PROVIDERS.find(([id]) => id === values.provider) ?? [];
  if (provider === undefined) throw new Error('There is no such provider.');
  const { name, slug, description, workspace, ends, reference, key } = values;
  const target = targetOf(provider);
  const isOfKey = target === 'key' && reference === '' && key !== '';
  const config = Object.fromEntries(Object.entries(optionsOf(values)).filter(([, value]) => value !== ''));
  return {
    name,
    provider,
    ...(slug !== '' && { slug }),
    ...(description !== '' && { description }),
    ...inWorkspace(workspace),
    ...(ends !== '' && { expires_at: endOfDay(ends) }),
    ...(Object.keys(config).length > 0 && { config }),
    ...(isOfKey && { key }),
    ...(reference !== '' && { secret_mappings: [{ target_field: target, secret_reference_id: reference }] }),
  };
}

/** Only what is different: a credential that is left empty stays. */
export function changesOf(before: VirtualKey, values: VirtualKeyValues): UpdateVirtualKeyRequest {
  const stored = valuesOf(before);
  const { name, description, ends, reference, key } = values;
  const target = targetOf(before.provider);
  const was = optionsOf(stored);
  const config = Object.entries(optionsOf(values))
    .filter(([option, value]) => value !== was[option])
    .map(([option, value]) => [option, value === '' ? null : value]);
  const others = before.secret_mappings.filter(({ target_field: field }) => field !== target);
  const mapped = reference === '' ? [] : [{ target_field: target, secret_reference_id: reference }];
  return {
    ...(name !== stored.name && { name }),
    ...(description !== stored.description && { description: description === '' ? null : description }),
    ...(ends !== stored.ends && { expires_at: ends === '' ? null : endOfDay(ends) }),
    ...(config.length > 0 && { config: Object.fromEntries(config) }),
    ...(target === 'key' && reference === '' && key !== '' && { key }),
    ...(reference !== stored.reference && { secret_mappings: [...others, ...mapped] }),
  };
}

export function asks(provider: string): Asked {
  return FORM_PROVIDERS.find(([id]) => id === provider)?.[2] ?? 'only a name';
}

/** Whether the gateway has a credential, typed or referenced. */
export function hasCredential({ key, config, secret_mappings: mappings }: VirtualKey): boolean {
  return key !== null || 'google_credentials' in config || mappings.length > 0;
}

function lacksKey({ provider, key, reference }: VirtualKeyValues, before: VirtualKey | undefined): boolean {
  if (KEY_OPTIONAL.has(provider) || asks(provider) === 'only a name' || key !== '' || reference !== '') return false;
  // A key that was referenced is not in the gateway.
  return before === undefined || !hasCredential(before) || referenceOf(before) !== undefined;
}

/** The options that the form shows, empty where nothing was typed. */
function optionsOf({ provider, reference, key, baseUrl, project, location }: VirtualKeyValues): Record<string, string> {
  switch (asks(provider)) {
    case 'address':
      return { base_url: baseUrl };
    case 'place':
      return {
        google_project: project,
        google_location: location,
        ...(reference === '' && key !== '' && { google_credentials: key }),
      };
    default:
      return {};
  }
}

/** The field of the credential. */
function targetOf(provider: string): string {
  return asks(provider) === 'place' ? 'config.google_credentials' : 'key';
}

function referenceOf({ provider, secret_mappings: mappings }: VirtualKey): string | undefined {
  return mappings.find(({ target_field: field }) => field === targetOf(provider))?.secret_reference_id;
}

function optionOf(before: VirtualKey | undefined, option: string): string {
  const value = before?.config[option];
  return typeof value === 'string' ? value : '';
}
