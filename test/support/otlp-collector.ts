import type { IncomingMessage } from 'node:http';
import { startHttp } from '../../src/upstream/__fixtures__/loopback.js';

export interface ExportedSpan {
  readonly name: string;
  /** 2 is SERVER, 3 is CLIENT. */
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** 0 is unset, 2 is error. */
  readonly status: number;
  readonly durationMs: number;
  readonly resource: Readonly<Record<string, unknown>>;
}

export interface OtlpCollector {
  /** The value of OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly url: string;
  readonly spans: ExportedSpan[];
  /** Paths and bodies of all exports, unchanged. */
  readonly exports: { readonly path: string; readonly body: string }[];
  /** Sets the status of further answers. */
  status: number;
  close(): Promise<void>;
}

interface OtlpAttribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: number; readonly doubleValue?: number };
}

interface OtlpBody {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly OtlpAttribute[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly {
        readonly name: string;
        readonly kind: number;
        readonly traceId: string;
        readonly spanId: string;
        readonly parentSpanId?: string;
        readonly startTimeUnixNano: string;
        readonly endTimeUnixNano: string;
        readonly attributes: readonly OtlpAttribute[];
        readonly status: { readonly code: number };
      }[];
    }[];
  }[];
}

/** An OTLP/HTTP collector on loopback that keeps its exports. */
export async function startOtlpCollector(): Promise<OtlpCollector> {
  const spans: ExportedSpan[] = [];
  const exports: { path: string; body: string }[] = [];
  const server = await startHttp((request, response) => {
    void readAll(request).then((body) => {
      exports.push({ path: request.url ?? '', body });
      if (collector.status === 200) spans.push(...spansOf(JSON.parse(body)));
      response.writeHead(collector.status, { 'content-type': 'application/json' }).end('{}');
    });
  });
  const collector: OtlpCollector = { url: server.origin, spans, exports, status: 200, close: () => server.close() };
  return collector;
}

async function readAll(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString();
}

function spansOf(body: OtlpBody): readonly ExportedSpan[] {
  return body.resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap((scope) =>
      scope.spans.map(({ startTimeUnixNano, endTimeUnixNano, attributes, status, ...span }) => ({
        name: span.name,
        kind: span.kind,
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId,
        attributes: toRecord(attributes),
        status: status.code,
        durationMs: Number(BigInt(endTimeUnixNano) - BigInt(startTimeUnixNano)) / 1e6,
        resource: toRecord(resource.attributes),
      })),
    ),
  );
}

function toRecord(attributes: readonly OtlpAttribute[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
