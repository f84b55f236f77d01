import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { callMcpServerTool } from '../api/sdk.gen';
import type { McpServerTool } from '../api/types.gen';
import { InView } from '../components/in-view';
import { ErrorNote } from '../components/states';
import { Button } from '../components/ui/button';
import { Dialog } from '../components/ui/dialog';
import { Field, TextArea } from '../components/ui/field';
import { useOnce } from '../lib/once';
import { argumentsIn, FieldError, fieldsOf, type FormField, jsonOf, textsOf, valueOf } from '../lib/schema-form';
import { ToolAnswer } from './tool-answer';
import { ToolField } from './tool-field';

interface CallToolProps {
  readonly serverId: string;
  readonly tool: McpServerTool;
  readonly onClose: () => void;
}

type Texts = Readonly<Record<string, string>>;

/** No argument has this name: it is that of all. */
const JSON_FIELD = '';

/** Calls a tool with the arguments of a form that its schema makes. */
export function CallTool({ serverId, tool, onClose }: CallToolProps) {
  const fields = fieldsOf(tool.input_schema);
  const [isJson, setJson] = useState(fields === undefined);
  const [json, setText] = useState('{}');
  const [texts, setTexts] = useState<Texts>(() =>
    Object.fromEntries((fields ?? []).map(({ name, initial }) => [name, initial])),
  );
  const [wrong, setWrong] = useState<Texts>({});
  const form = useRef<HTMLFormElement>(null);
  // After the messages are there, so that screen readers read them with the field.
  useEffect(() => {
    if (Object.keys(wrong).length > 0) form.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus();
  }, [wrong]);
  const call = useMutation({
    mutationFn: async (values: Record<string, unknown>) => {
      const { data, response } = await callMcpServerTool({
        path: { ref: serverId, tool: tool.name },
        body: { arguments: values },
        throwOnError: true,
      });
      return { ...data, traceId: response.headers.get('x-gateway-trace-id') };
    },
  });
  const once = useOnce(call);
  const submit = (): void => {
    const { values, errors } = isJson ? readJson(json) : readForm(fields ?? [], texts);
    setWrong(errors);
    if (Object.keys(errors).length === 0) call.mutate(values);
  };
  /** Keeps what was typed. */
  const change = (): void => {
    const shown = isJson ? textsOf(fields ?? [], json) : texts;
    setWrong(
      shown === undefined
        ? { [JSON_FIELD]: 'The form cannot show this: it has other fields, or is not an object.' }
        : {},
    );
    if (shown === undefined) return;
    setTexts(shown);
    setText(jsonOf(fields ?? [], shown));
    setJson(!isJson);
  };
  return (
    <Dialog title={`Call ${tool.name}`} onClose={onClose}>
      {tool.description !== null && <p className="wrap-anywhere whitespace-pre-line text-muted">{tool.description}</p>}
      <p className="text-warn">The call is real: the tool does what it does, as you.</p>
      <form
        ref={form}
        className="space-y-4"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void once(submit);
        }}
      >
        {isJson ? (
          <Field
            label="Arguments as JSON"
            error={wrong[JSON_FIELD]}
            hint={fields === undefined ? 'The schema of the tool is not known, or too rich for a form.' : undefined}
          >
            {(tie) => (
              <TextArea
                {...tie}
                rows={8}
                spellCheck={false}
                className="font-mono text-xs"
                value={json}
                onChange={({ target }) => setText(target.value)}
              />
            )}
          </Field>
        ) : (
          <>
            {fields?.length === 0 && <p>The tool takes no arguments.</p>}
            {fields?.map((field) => (
              <ToolField
                key={field.name}
                field={field}
                value={texts[field.name] ?? ''}
                error={wrong[field.name]}
                onChange={(text) => setTexts({ ...texts, [field.name]: text })}
              />
            ))}
          </>
        )}
        <footer className="flex flex-wrap justify-between gap-2">
          {fields === undefined ? <span /> : <Button onClick={change}>{isJson ? 'Form' : 'As JSON'}</Button>}
          <Button kind="main" type="submit" disabled={call.isPending}>
            {call.isPending ? 'Calling…' : 'Call the tool'}
          </Button>
        </footer>
      </form>
      {call.isError && (
        <InView of={call.error}>
          <ErrorNote error={call.error} />
        </InView>
      )}
      {/* Screen readers read what comes into a region that was there before. */}
      <div aria-live="polite">
        {call.isSuccess && (
          <InView of={call.data}>
            <ToolAnswer answer={call.data} traceId={call.data.traceId} />
          </InView>
        )}
      </div>
    </Dialog>
  );
}

interface Read {
  readonly values: Record<string, unknown>;
  /** By the names of the fields. */
  readonly errors: Texts;
}

function readForm(fields: readonly FormField[], texts: Texts): Read {
  const values: [string, unknown][] = [];
  const errors: [string, string][] = [];
  for (const field of fields) {
    try {
      const value = valueOf(field, texts[field.name] ?? '');
      if (value !== undefined) values.push([field.name, value]);
    } catch (error) {
      if (!(error instanceof FieldError)) throw error;
      errors.push([field.name, error.message]);
    }
  }
  return { values: Object.fromEntries(values), errors: Object.fromEntries(errors) };
}

function readJson(json: string): Read {
  const values = argumentsIn(json);
  if (values !== undefined) return { values: { ...values }, errors: {} };
  return { values: {}, errors: { [JSON_FIELD]: 'The arguments must be a JSON object.' } };
}
