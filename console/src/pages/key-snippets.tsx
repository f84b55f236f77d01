import { useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { listModelRoutesOptions, listModelsOptions } from '../api/@tanstack/react-query.gen';
import { Copyable } from '../components/copy';
import { Button } from '../components/ui/button';
import { Field, Input, Select } from '../components/ui/field';
import { useLogin } from '../lib/login-context';
import { useMcpServers } from '../lib/whole';
import { MCP_SNIPPETS, MODEL_SNIPPETS } from '../lib/snippets';

interface KeySnippetsProps {
  readonly apiKey: string;
  readonly scopes: readonly string[];
}

/** A new key, and how the usual programs take it. */
export function KeySnippets({ apiKey, scopes }: KeySnippetsProps) {
  const snippets = {
    ...(scopes.includes('completions.write') && MODEL_SNIPPETS),
    ...(scopes.includes('mcp.invoke') && MCP_SNIPPETS),
  };
  const [chosen, setProgram] = useState('');
  const [typed, setModel] = useState<string>();
  const [serverId, setServerId] = useState('');
  const models = useModels();
  const servers = useMcpServers().data ?? [];
  const program = chosen in snippets ? chosen : (Object.keys(snippets)[0] ?? '');
  const model = typed ?? models[0] ?? '';
  const server = servers.find(({ id }) => id === serverId) ?? servers[0];
  const facts = {
    url: window.location.origin,
    key: apiKey,
    model: model === '' ? 'MODEL' : model,
    server: { name: server?.slug ?? 'SERVER', url: server?.mcp_url ?? `${window.location.origin}/SERVER/mcp` },
  };
  const snippet = snippets[program]?.(facts);
  return (
    <div className="space-y-3">
      <p className="text-warn">Copy the key now: it is not shown again.</p>
      <Copyable label="API key" text={apiKey} />
      <div role="group" aria-label="Program" className="flex flex-wrap gap-1 empty:hidden">
        {Object.keys(snippets).map((name) => (
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
      {program in MODEL_SNIPPETS && <ModelField model={model} models={models} onChange={setModel} />}
      {program in MCP_SNIPPETS && servers.length > 0 && (
        <Field label="MCP server">
          {(tie) => (
            <Select {...tie} value={server?.id} onChange={({ target }) => setServerId(target.value)}>
              {servers.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </Select>
          )}
        </Field>
      )}
      {snippet !== undefined && <Copyable label={`Snippet for ${program}`} text={snippet} />}
    </div>
  );
}

interface ModelFieldProps {
  readonly model: string;
  readonly models: readonly string[];
  readonly onChange: (model: string) => void;
}

function ModelField({ model, models, onChange }: ModelFieldProps) {
  const list = useId();
  return (
    <>
      <Field label="Model" hint="The name of a model route, or @virtual-key/model.">
        {(tie) => (
          <Input
            {...tie}
            list={list}
            spellCheck={false}
            autoComplete="off"
            placeholder="MODEL"
            value={model}
            onChange={({ target }) => onChange(target.value)}
          />
        )}
      </Field>
      <datalist id={list}>
        {models.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  );
}

const MAX_MODELS = 200;

/** Names that calls can use, model routes first. */
function useModels(): readonly string[] {
  const { caller, may } = useLogin();
  const routes = useQuery({
    ...listModelRoutesOptions({ query: { page_size: 100 } }),
    enabled: may('model_routes.list'),
  });
  const models = useQuery({
    ...listModelsOptions({ query: { limit: MAX_MODELS } }),
    enabled: caller.type === 'api_key' && may('completions.write'),
  });
  const names = [
    ...(routes.data?.data ?? []).map(({ name }) => name),
    ...(models.data?.data ?? []).map(({ id }) => id),
  ];
  return [...new Set(names)];
}
