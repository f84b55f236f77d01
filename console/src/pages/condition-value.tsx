import type { UseFormRegisterReturn } from 'react-hook-form';
import { Field, Input, Select } from '../components/ui/field';
import { PROVIDERS } from '../lib/providers';
import { useApiKeys, useVirtualKeys, useWorkspaces } from '../lib/whole';

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
function useChoices(condition: string): Choices | undefined {
  const keys = useApiKeys(condition === 'api_key');
  const virtualKeys = useVirtualKeys(condition === 'virtual_key');
  const { workspaces } = useWorkspaces();
  switch (condition) {
    case 'api_key':
      return keys.isLoading ? [] : inOrder(keys.data?.map(({ id, name }) => [id, name]));
    case 'virtual_key':
      return virtualKeys.isLoading ? [] : inOrder(virtualKeys.data?.map(({ slug, name }) => [slug, name]));
    case 'workspace_id':
      return inOrder(workspaces.map(({ id, name }) => [id, name]));
    case 'provider':
      return Object.entries(PROVIDERS);
    default:
      return undefined;
  }
}

type Choices = readonly (readonly [value: string, name: string])[];

/** By their names. */
function inOrder(choices: Choices | undefined): Choices | undefined {
  return choices?.toSorted(([, one], [, other]) => one.localeCompare(other));
}
