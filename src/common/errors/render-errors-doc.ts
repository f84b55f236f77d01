import { ERROR_CODES } from './error-codes.js';

const INTRODUCTION = `# Errors

Every error has this body, whether it comes from the gateway or from a provider:

\`\`\`json
{
  "error": {
    "message": "top_n must not be less than 1",
    "type": "invalid_request_error",
    "code": "validation_failed",
    "param": "top_n",
    "source": "gateway",
    "details": [{ "param": "top_n", "message": "top_n must not be less than 1" }]
  }
}
\`\`\`

- \`code\` is stable: use it in programs. \`message\` is for people and may change.
- \`type\` is the family of the error, as SDKs know it.
- \`param\` is the path of the field that is wrong (\`documents.3.text\`), the name of a header, or \`null\`.
- \`source\` says where the cause is: \`gateway\` (the gateway, or the request), or \`provider\`.
- \`provider_code\` and \`provider_type\` are the provider's own names of its error (\`insufficient_quota\`), where it has some.
- \`details\` lists the broken rules, at most 20 of them, or every usage limit that refuses the call. \`message\` has the
  first broken rule and the number of the others. A list or map beyond its maximum is reported first and alone.

At the addresses of MCP servers the answer is JSON-RPC: its \`error\` has the \`message\`, and in \`data\` the \`code\`, \`source\`,
\`param\` and \`details\`.

Every answer has the header \`x-gateway-trace-id\`. The log line of the request has the same id, and the cause that the body leaves out.
`;

/**
 * Renders docs/errors.md and a part of the OpenAPI document from the table of errors. A test keeps the file up to date.
 */
export function renderErrorsDoc(): string {
  const rows = Object.entries(ERROR_CODES).map(([code, { status, type, source, when }]) => [
    code === 'provider_rejected' ? "the provider's" : String(status),
    `\`${code}\``,
    `\`${type}\``,
    source,
    when,
  ]);
  return `${INTRODUCTION}\n${renderTable([['status', 'code', 'type', 'source', 'when'], ...rows])}`;
}

/** A Markdown table as the formatter writes it: columns padded to their widest cell. */
function renderTable(rows: readonly (readonly string[])[]): string {
  const [head = [], ...body] = rows.map((row) => row.map((cell) => cell.replaceAll('|', '\\|')));
  const widths = head.map((title, column) => Math.max(title.length, ...body.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |\n`;
  return [head, widths.map((width) => '-'.repeat(width)), ...body].map(line).join('');
}
