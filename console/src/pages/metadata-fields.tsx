import { X } from 'lucide-react';
import { AddButton } from '../components/add-button';
import { Button } from '../components/ui/button';
import { FieldSet, Input } from '../components/ui/field';

/** A name and its value. The row may still be empty. */
export type Pair = readonly [name: string, value: string];

interface MetadataFieldsProps {
  readonly legend: string;
  readonly hint: string;
  readonly param: string;
  readonly pairs: readonly Pair[];
  readonly onChange: (pairs: readonly Pair[]) => void;
}

/** As many as the gateway takes, and as long. */
const MAX_PAIRS = 32;
const MAX_LENGTH = 128;

/** Names with values, a row each. */
export function MetadataFields({ legend, hint, param, pairs, onChange }: MetadataFieldsProps) {
  const put = (at: number, pair: Pair): void => onChange(pairs.map((each, index) => (index === at ? pair : each)));
  return (
    <FieldSet legend={legend} hint={hint} param={param}>
      {pairs.map(([name, value], at) => (
        // Rows have no other identity than their place.
        <div key={at} className="flex items-center gap-2">
          <Input
            aria-label={`Name ${at + 1}`}
            placeholder="team"
            spellCheck={false}
            maxLength={MAX_LENGTH}
            required={value !== ''}
            value={name}
            onChange={({ target }) => put(at, [target.value, value])}
          />
          <Input
            aria-label={`Value ${at + 1}`}
            placeholder="search"
            spellCheck={false}
            maxLength={MAX_LENGTH}
            value={value}
            onChange={({ target }) => put(at, [name, target.value])}
          />
          <Button
            kind="quiet"
            size="icon"
            className="shrink-0"
            aria-label={`Remove ${name === '' ? `row ${at + 1}` : name}`}
            onClick={() => onChange(pairs.filter((_pair, index) => index !== at))}
          >
            <X aria-hidden className="size-4" />
          </Button>
        </div>
      ))}
      {pairs.length < MAX_PAIRS && <AddButton onAdd={() => onChange([...pairs, ['', '']])}>Add</AddButton>}
    </FieldSet>
  );
}
