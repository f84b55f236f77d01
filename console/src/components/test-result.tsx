import type { Sent } from '../lib/once';
import { SendButton } from './ui/button';

interface TestResultProps {
  readonly label: string;
  readonly sent: Sent;
  readonly onTest: () => void;
  readonly result: { readonly ok: boolean; readonly latency_ms: number } | undefined;
  readonly problem: string | undefined;
}

/** A button that tests something, and what came of it. */
export function TestResult({ label, sent, onTest, result, problem }: TestResultProps) {
  return (
    <div className="space-y-1">
      <SendButton size="small" aria-label={label} sent={sent} onSend={onTest}>
        {sent.isPending ? 'Testing…' : 'Test'}
      </SendButton>
      <div role="status" className="max-w-72 text-xs break-words">
        {result?.ok === true && <span className="text-good">works, {Math.round(result.latency_ms)} ms</span>}
        {problem !== undefined && <span className="text-bad">{problem}</span>}
      </div>
    </div>
  );
}

/** Why a test failed, in the words of the gateway and the other side. */
export function reasonOf(
  result: { ok: boolean; error?: string; reason?: string; provider_message?: string } | undefined,
) {
  if (result === undefined || result.ok) return undefined;
  return [result.reason, result.provider_message ?? result.error].filter(Boolean).join(': ');
}
