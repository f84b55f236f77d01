import type { UsageLimit } from '../api/types.gen';

/** What limits match and count by, as people say it. Metadata keep the name that programs give them. */
const KEYS: Readonly<Record<string, string>> = {
  api_key: 'API key',
  organisation_id: 'organisation',
  workspace_id: 'workspace',
  virtual_key: 'virtual key',
  provider: 'provider',
  model: 'model',
  model_requested: 'model as it was named',
  endpoint: 'address of the API',
  mcp_server: 'MCP server',
  mcp_tool: 'MCP tool',
  'metadata._user': 'user',
};

export function keyInWords(key: string): string {
  return KEYS[key] ?? key;
}

/** A group of a limit, for example `api_key:<id>|metadata.team:(none)`. @param nameIds puts names in the place of ids */
export function groupInWords(valueKey: string, nameIds: (text: string) => string): string {
  return valueKey
    .split('|')
    .map((pair) => {
      const [, key, value] = /^([^:]+):(.*)$/s.exec(pair) ?? [];
      if (key === undefined || value === undefined) return pair;
      return value === '(none)' ? `no ${keyInWords(key)}` : `${keyInWords(key)}: ${nameIds(value)}`;
    })
    .join(' · ');
}

/** Texts with the ids that `conditionsInWords` names. */
export function idsOf({ conditions, workspace_id: workspace }: UsageLimit): readonly string[] {
  return [JSON.stringify(conditions), workspace ?? ''];
}

/** Which calls a limit counts, and for whom. */
export function conditionsInWords(
  { conditions, group_by: groups, workspace_id: workspace }: UsageLimit,
  nameIds: (text: string) => string,
): string {
  const where = conditions.flatMap(({ key, value, excludes = [] }) => {
    const values = [value].flat();
    const not = [excludes].flat();
    return [
      ...(values.includes('*') ? [] : [`${keyInWords(key)} ${values.map(nameIds).join(' or ')}`]),
      ...(not.length === 0 ? [] : [`no ${keyInWords(key)} ${not.map(nameIds).join(' or ')}`]),
    ];
  });
  if (workspace !== null) where.unshift(`workspace ${nameIds(workspace)}`);
  const calls = where.length === 0 ? 'All calls' : `Calls of ${where.join(' and ')}`;
  const each = groups.map(({ key }) => keyInWords(key)).join(' and ');
  return each === '' ? calls : `${calls}, counted for each ${each}`;
}
