import { describe, expect, it } from '@jest/globals';
import { NEVER_ABORTED } from '../common/http/client-connection.js';
import { prepareProviderSpan, RequestContext } from './request-context.js';
import { readTraceHeaders } from './trace-headers.js';
import type { ProviderCallInfo, ProviderSpan, RequestSpan } from './tracing.js';

const CALL: ProviderCallInfo = { operation: 'rerank', provider: 'cohere', model: 'rerank-v3.5' };

describe('prepareProviderSpan', () => {
  it("sends the gateway's own span id to the provider when tracing is off", () => {
    const trace = readTraceHeaders({ 'x-gateway-trace-id': '0af76519-16cd-43dd-8448-eb211c80319c' });
    const span = prepareProviderSpan(new RequestContext(trace, NEVER_ABORTED), CALL);
    expect(span.headers).toEqual({ traceparent: `00-0af7651916cd43dd8448eb211c80319c-${trace.w3cSpanId}-01` });
    expect([span.start(), span.end('200')]).toEqual([undefined, undefined]);
  });

  it("prepares a child of the request's span when tracing is on", () => {
    const prepared: ProviderCallInfo[] = [];
    const child: ProviderSpan = {
      headers: { traceparent: 'of the child' },
      start: () => undefined,
      end: () => undefined,
    };
    const request: RequestSpan = {
      prepareProviderCall: (call) => {
        prepared.push(call);
        return child;
      },
      follow: () => undefined,
      noteMcpCall: () => undefined,
      startMcpCall: () => ({ headers: child.headers, end: () => undefined }),
      end: () => undefined,
    };
    const context = new RequestContext(readTraceHeaders({}), NEVER_ABORTED, request);
    expect(prepareProviderSpan(context, CALL)).toBe(child);
    expect(prepared).toEqual([CALL]);
  });
});
