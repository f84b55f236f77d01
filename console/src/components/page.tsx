import { useEffect, useRef, useState, type ReactNode } from 'react';
import { announce } from '../lib/announce';
import { Input } from './ui/field';

/** Of index.html. */
const FIRST_TITLE = 'Tollgate';

interface PageProps {
  readonly title: string;
  readonly intro?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

export function Page({ title, intro, actions, children }: PageProps) {
  useEffect(() => {
    // Browsers read the title of the first page themselves.
    if (document.title !== FIRST_TITLE) announce(title);
    document.title = `${title} · Tollgate`;
  }, [title]);
  return (
    <div className="space-y-4">
      <header className="flex flex-wrap items-start justify-between gap-3 sm:flex-nowrap">
        <div className="min-w-0">
          <h1 className="text-xl font-semibold wrap-anywhere">{title}</h1>
          {intro !== undefined && <p className="mt-1 max-w-3xl text-muted">{intro}</p>}
        </div>
        <div className="shrink-0 empty:hidden">{actions}</div>
      </header>
      {children}
    </div>
  );
}

const PAUSE_MS = 300;

interface SearchBoxProps {
  readonly label?: string;
  readonly value: string;
  readonly onSearch: (text: string) => void;
}

/** Searches when the typing pauses, so that the address and the list do not follow every letter. */
export function SearchBox({ label = 'Search', value, onSearch }: SearchBoxProps) {
  const [text, setText] = useState(value);
  /** What was searched here and is not in `value` yet. It comes back later than more is typed. */
  const asked = useRef<string[]>([]);
  useEffect(() => {
    const at = asked.current.lastIndexOf(value);
    asked.current.splice(0, at === -1 ? Infinity : at + 1);
    // Another search, by a link or the button "Back".
    if (at === -1) setText(value);
  }, [value]);
  useEffect(() => {
    const next = text.trim();
    if (next === value) return;
    const timer = setTimeout(() => {
      asked.current.push(next);
      onSearch(next);
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, value, onSearch]);
  return (
    <Input
      type="search"
      aria-label={label}
      placeholder={label}
      className="sm:w-56"
      value={text}
      onChange={({ target }) => setText(target.value)}
    />
  );
}
