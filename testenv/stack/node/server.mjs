// A server of both eras, on the TypeScript SDK and OpenTelemetry for JavaScript, so that a trace crosses languages. It
// reads the trace context in the _meta of each call, and exports a SERVER span and below it a span of the tool's work.
//
// Without arguments, it serves standard input and output. With the argument "http", it serves the path /mcp on a free
// port of the loopback interface, or on the port in MCPOTEL_PORT. OTEL_EXPORTER_OTLP_ENDPOINT is the address of the
// Collector for OTLP over HTTP; OTEL_SERVICE_NAME is the service name of the spans.
import { createServer } from 'node:http';
import { localhostHostValidation, toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import * as z from 'zod/v4';

const provider = new NodeTracerProvider({
  resource: resourceFromAttributes({ 'service.name': process.env.OTEL_SERVICE_NAME ?? 'node-server' }),
  spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter(), { scheduledDelayMillis: 100 })],
});
provider.register();
const tracer = trace.getTracer('mcpotel-testenv-node', '1.0.0');

// traced returns a handler that runs a tool's handler in a SERVER span. The parent of the span is in the request's
// _meta.
function traced(tool, handler) {
  return (input, ctx) => {
    const parent = propagation.extract(context.active(), ctx.mcpReq._meta ?? {});
    const attributes = { 'mcp.method.name': 'tools/call', 'gen_ai.tool.name': tool, 'gen_ai.operation.name': 'execute_tool' };
    return tracer.startActiveSpan(`tools/call ${tool}`, { kind: SpanKind.SERVER, attributes }, parent, async (span) => {
      try {
        return await handler(input, ctx);
      } catch (error) {
        span.setStatus({ code: SpanStatusCode.ERROR });
        span.setAttribute('error.type', ctx.mcpReq.signal.aborted ? 'cancelled' : 'tool_error');
        throw error;
      } finally {
        span.end();
      }
    });
  };
}

// sleep waits for a number of seconds. It ends early, with an error, when the client cancels the call.
function sleep(seconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, seconds * 1000);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(new Error('cancelled'));
    });
  });
}

const text = (s) => ({ content: [{ type: 'text', text: s }] });

function server() {
  const s = new McpServer({ name: 'node', version: '1.0.0' });
  s.registerTool(
    'add',
    { inputSchema: z.object({ a: z.number(), b: z.number() }), outputSchema: z.object({ sum: z.number() }) },
    traced('add', ({ a, b }) =>
      tracer.startActiveSpan('look up the price', (span) => {
        span.end();
        return { ...text(`${a + b}`), structuredContent: { sum: a + b } };
      }),
    ),
  );
  s.registerTool(
    'fail',
    { inputSchema: z.object({}) },
    traced('fail', () => {
      throw new Error('sold out');
    }),
  );
  s.registerTool(
    'wait',
    { inputSchema: z.object({ seconds: z.number() }) },
    traced('wait', async ({ seconds }, ctx) => {
      await sleep(seconds, ctx.mcpReq.signal);
      return text('waited');
    }),
  );
  return s;
}

async function end() {
  await provider.shutdown().catch(() => {});
  process.exit(0);
}

process.on('SIGTERM', end);
if (process.argv[2] === 'http') {
  const serve = toNodeHandler(createMcpHandler(server, { responseMode: 'json' }));
  const local = localhostHostValidation();
  const web = createServer((request, response) => {
    if (local(request, response)) serve(request, response);
  });
  web.listen(Number(process.env.MCPOTEL_PORT ?? 0), '127.0.0.1', () => console.error(`listening on http://127.0.0.1:${web.address().port}`));
} else {
  process.stdin.on('end', end);
  serveStdio(server);
}
