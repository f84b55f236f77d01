import { Link } from '@tanstack/react-router';
import { cn } from '../lib/cn';

interface TabsProps {
  /** Names the choice for screen readers. */
  readonly label: string;
  /** Words by view; the first one is the one without a word in the address. */
  readonly views: Readonly<Record<string, string>>;
  readonly view: string;
}

/** The views of one page, each with an address of its own. */
export function Tabs({ label, views, view }: TabsProps) {
  const [first] = Object.keys(views);
  return (
    <nav aria-label={label} className="flex gap-1 overflow-x-auto border-b border-line">
      {Object.entries(views).map(([name, words]) => (
        <Link
          key={name}
          to="."
          search={name === first ? {} : { view: name }}
          aria-current={name === view ? 'page' : undefined}
          className={cn(
            '-mb-px border-b-2 px-2 py-2 whitespace-nowrap sm:px-3',
            name === view ? 'border-accent font-medium' : 'border-transparent text-muted hover:text-text',
          )}
        >
          {words}
        </Link>
      ))}
    </nav>
  );
}
