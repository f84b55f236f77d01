import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { callMcpServerTool } from '../api/sdk.gen';
import type { McpServerTool } from '../api/types.gen';
import { InView } from '../components/in-view';
import { ErrorNote } from '../components/states';
import { Button } from '../components/ui/button';
import { Dialog } from '../components/ui/dialog';
import { Field, TextArea } from '../components/ui/field';
import { exampleOf, fieldsOf, type FormField, parsed, valueOf } from '../lib/schema-form';
import { ToolAnswer } from './tool-answer';
import { ToolField } from './tool-field';

interface CallToolProps {
  readonly serverId: string;
  readonly tool: McpServerTool;
  readonly onClose: () => void;
}

/** Calls a tool with the arguments of a form that its schema makes. */
export function CallTool({ serverId, tool, onClose }: CallToolProps) {
  const fields = fieldsOf(tool.input_schema);
  const [isJson, setJson] = useState(fields === undefined);
  const [json, setText] = useState(() => exampleOf(fields ?? []));
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>(() =>
    Object.fromEntries((fields ?? []).map(({ name, initial }) => [name, initial])),
  );
  const call = useMutation({
    mutationFn: async () => {
      const body = { arguments: isJson ? jsonArguments(json) : formArguments(fields ?? [], texts) };
      const { data, response } = await callMcpServerTool({
        path: { ref: serverId, tool: tool.name },
        body,
        throwOnError: true,
      });
      return { ...data, traceId: response.headers.get('x-gateway-trace-id') };
    },
  });
  return (
    <Dialog title={`Call ${tool.name}`} onClose={onClose}>
      {tool.description !== null && <p className="wrap-anywhere whitespace-pre-line text-muted">{tool.description}</p>}
      <p className="text-warn">The call is real: the tool does what it does, as you.</p>
      <form
        className="space-y-4"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          call.mutate();
        }}
      >
        {isJson ? (
          <Field
            label="Arguments as JSON"
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
                onChange={(text) => setTexts({ ...texts, [field.name]: text })}
              />
            ))}
          </>
        )}
        <footer className="flex flex-wrap justify-between gap-2">
          {fields === undefined ? (
            <span />
          ) : (
            <Button onClick={() => setJson(!isJson)}>{isJson ? 'Form' : 'As JSON'}</Button>
          )}
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

function formArguments(fields: readonly FormField[], texts: Readonly<Record<string, string>>): Record<string, unknown> {
  const pairs = fields.map((field) => [field.name, valueOf(field, texts[field.name] ?? '')] as const);
  return Object.fromEntries(pairs.filter(([, value]) => value !== undefined));
}

function jsonArguments(json: string): Record<string, unknown> {
  const value = parsed(json, 'The arguments');
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error('The arguments must be a JSON object.');
  }
  return { ...value };
}
