import { useQuery } from '@tanstack/react-query';
import type { UseFormRegisterReturn } from 'react-hook-form';
import { listApiKeysOptions, listVirtualKeysOptions } from '../api/@tanstack/react-query.gen';
import { Field, Input, Select } from '../components/ui/field';
import { useLogin } from '../lib/login-context';
import { PROVIDERS } from '../lib/providers';

interface ConditionValueProps {
  /** Key of the condition. */
  readonly condition: string;
  readonly input: UseFormRegisterReturn;
  readonly error: string | undefined;
}

/** The value of a condition: chosen by its name where the gateway knows all of them, else typed. */
export function ConditionValue({ condition, input, error }: ConditionValueProps) {
  const choices = useChoices(condition);
  if (choices === undefined) {
    return (
      <Field label="is" param="conditions.0.value" error={error} hint="* stands for any text.">
        {(tie) => <Input {...tie} {...input} spellCheck={false} />}
      </Field>
    );
  }
  return (
    <Field label="is" param="conditions.0.value" error={error}>
      {(tie) => (
        <Select {...tie} {...input}>
          <option value="*">any</option>
          {choices.map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}

/** Values with their names; undefined where only text will do. */
function useChoices(condition: string): readonly (readonly [string, string])[] | undefined {
  const { caller, may } = useLogin();
  const query = { page_size: 100, sort: 'name' } as const;
  const keys = useQuery({
    ...listApiKeysOptions({ query }),
    enabled: condition === 'api_key' && may('api_keys.list'),
  });
  const virtualKeys = useQuery({
    ...listVirtualKeysOptions({ query }),
    enabled: condition === 'virtual_key' && may('virtual_keys.list'),
  });
  switch (condition) {
    case 'api_key':
      return wholeOf(keys.data)?.map(({ id, name }) => [id, name]);
    case 'virtual_key':
      return wholeOf(virtualKeys.data)?.map(({ slug, name }) => [slug, name]);
    case 'workspace_id':
      return caller.workspaces.map(({ id, name }) => [id, name]);
    case 'provider':
      return Object.entries(PROVIDERS);
    default:
      return undefined;
  }
}

/** A list that was read to its end. */
function wholeOf<Row>(list: { readonly data: readonly Row[]; readonly total: number } | undefined) {
  return list !== undefined && list.data.length === list.total ? list.data : undefined;
}
