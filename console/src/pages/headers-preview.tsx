import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { previewMcpServerHeaders } from '../api/sdk.gen';
import { ErrorNote } from '../components/states';
import { Button } from '../components/ui/button';
import { Card } from '../components/ui/card';
import { Field, TextArea } from '../components/ui/field';
import { useOnce } from '../lib/once';

const EXAMPLE = 'x-team: search\nx-user-claims: {"sub":"somebody else"}';

/** What a client sends, and beside it what the server gets: identity headers of the client never arrive. */
export function HeadersPreview({ serverId }: { readonly serverId: string }) {
  const [text, setText] = useState(EXAMPLE);
  const [wrong, setWrong] = useState<string>();
  const preview = useMutation({
    mutationFn: async () =>
      (
        await previewMcpServerHeaders({
          path: { ref: serverId },
          body: {},
          headers: headersIn(text),
          throwOnError: true,
        })
      ).data,
  });
  const once = useOnce(preview);
  return (
    <Card title="Identity">
      <div className="grid gap-4 p-4 md:grid-cols-2">
        <form
          className="space-y-3"
          onSubmit={(event) => {
            event.preventDefault();
            const problem = problemIn(text);
            setWrong(problem);
            if (problem === undefined) void once(() => preview.mutate());
            else event.currentTarget.querySelector('textarea')?.focus();
          }}
        >
          <Field
            label="What the client sends"
            error={wrong}
            hint="One header on each line. Your session stands for the client's key."
          >
            {(tie) => (
              <TextArea
                {...tie}
                rows={5}
                className="font-mono text-xs"
                spellCheck={false}
                value={text}
                onChange={({ target }) => setText(target.value)}
              />
            )}
          </Field>
          <Button type="submit" disabled={preview.isPending}>
            Preview
          </Button>
        </form>
        <div aria-live="polite" className="min-w-0 space-y-2">
          <h3 className="font-medium">What the server gets</h3>
          {preview.isError && <ErrorNote error={preview.error} />}
          {preview.isSuccess ? (
            <>
              <Headers headers={preview.data.headers} />
              <p className="text-xs text-muted">
                {preview.data.identity === null
                  ? 'The server does not receive who the user is.'
                  : `The header ${preview.data.identity.header_name} names the user.`}
              </p>
              {preview.data.identity !== null && preview.data.identity.claims !== null && (
                <pre className="overflow-x-auto rounded-md bg-raised p-2 font-mono text-xs whitespace-pre-wrap">
                  {JSON.stringify(preview.data.identity.claims, null, 2)}
                </pre>
              )}
            </>
          ) : (
            <p className="text-muted">Nothing yet.</p>
          )}
        </div>
      </div>
    </Card>
  );
}

function Headers({ headers }: { readonly headers: Readonly<Record<string, string>> }) {
  return (
    <dl className="space-y-1 font-mono text-xs">
      {Object.entries(headers).map(([name, value]) => (
        <div key={name} className="wrap-anywhere">
          <dt className="inline font-semibold">{name}: </dt>
          <dd className="inline">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

const HEADER = /^\s*([!#$%&'*+.^`|~\w-]+)\s*:\s*(.*?)\s*$/;
/** What browsers send in a header, and servers read. */
const VALUE = /^[\t -~]*$/;

/** What is wrong with the first line that is not a header. */
function problemIn(text: string): string | undefined {
  const problems = text.split('\n').map((line, at) => {
    if (line.trim() === '') return undefined;
    const value = HEADER.exec(line)?.[2];
    if (value === undefined) return `Line ${at + 1} is not a header, such as x-team: search.`;
    return VALUE.test(value) ? undefined : `Line ${at + 1} has a character that headers cannot have.`;
  });
  return problems.find((problem) => problem !== undefined);
}

function headersIn(text: string): Record<string, string> {
  const pairs = text.split('\n').flatMap((line) => {
    const [, name, value] = HEADER.exec(line) ?? [];
    return name === undefined || value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(pairs);
}
