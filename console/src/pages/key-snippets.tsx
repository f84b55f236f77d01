import { useState } from 'react';
import { Copyable } from '../components/copy';
import { Button } from '../components/ui/button';

const SNIPPETS: Readonly<Record<string, (url: string, key: string) => string>> = {
  curl: (url, key) =>
    `curl ${url}/v1/chat/completions \\\n  -H "authorization: Bearer ${key}" -H 'content-type: application/json' \\\n  -d '{"model": "MODEL", "messages": [{"role": "user", "content": "Hello"}]}'`,
  'OpenAI SDK': (url, key) =>
    `import OpenAI from 'openai';\n\nconst client = new OpenAI({ baseURL: '${url}/v1', apiKey: '${key}' });`,
  'Anthropic SDK': (url, key) =>
    `import Anthropic from '@anthropic-ai/sdk';\n\nconst client = new Anthropic({ baseURL: '${url}', apiKey: '${key}' });`,
  'Claude Code': (url, key) =>
    `export ANTHROPIC_BASE_URL=${url}\nexport ANTHROPIC_AUTH_TOKEN=${key}\nclaude --model MODEL`,
  Codex: (url, key) =>
    `export TOLLGATE_KEY=${key}\ncodex --config model_provider=tollgate \\\n  --config 'model_providers.tollgate={name="Tollgate", base_url="${url}/v1", env_key="TOLLGATE_KEY", wire_api="responses"}' \\\n  --model MODEL`,
  Cursor: (url, key) => `Settings → Models → API Keys\n  OpenAI API Key: ${key}\n  Override OpenAI Base URL: ${url}/v1`,
};

/** A new key, and how the usual programs take it. */
export function KeySnippets({ apiKey }: { readonly apiKey: string }) {
  const [program, setProgram] = useState('curl');
  const snippet = SNIPPETS[program]?.(window.location.origin, apiKey) ?? '';
  return (
    <div className="space-y-3">
      <p className="text-warn">Copy the key now: it is not shown again.</p>
      <Copyable label="API key" text={apiKey} />
      <div role="group" aria-label="Program" className="flex flex-wrap gap-1">
        {Object.keys(SNIPPETS).map((name) => (
          <Button
            key={name}
            size="small"
            kind={name === program ? 'main' : 'plain'}
            aria-pressed={name === program}
            onClick={() => setProgram(name)}
          >
            {name}
          </Button>
        ))}
      </div>
      <Copyable label={`Snippet for ${program}`} text={snippet} />
      <p className="text-xs text-muted">
        MODEL stands for the name of a model route, or for @virtual-key/model. The page Models lists them.
      </p>
    </div>
  );
}
