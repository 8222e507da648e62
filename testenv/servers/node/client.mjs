// The client of the TypeScript SDK, driven once: connect, list the tools, call one, say on one line of JSON what came of it.
//
//     node client.mjs URL auto|legacy|modern|sse TOOL ARGUMENTS
import { Client, SSEClientTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const [url, mode, tool, input] = process.argv.slice(2);
const negotiation = { auto: 'auto', modern: { pin: '2026-07-28' } }[mode] ?? 'legacy';
const client = new Client({ name: 'typescript', version: '2.4.0' }, { versionNegotiation: { mode: negotiation } });
const Transport = mode === 'sse' ? SSEClientTransport : StreamableHTTPClientTransport;
await client.connect(new Transport(new URL(url)));
const { tools } = await client.listTools();
let progress = 0;
const result = await client.callTool({ name: tool, arguments: JSON.parse(input) }, { onprogress: () => progress++ });
console.log(
  JSON.stringify({
    version: client.getNegotiatedProtocolVersion(),
    server: client.getServerVersion()?.name,
    tools: tools.map((t) => t.name),
    text: result.content.map((c) => c.text ?? '').join(''),
    structured: result.structuredContent,
    isError: result.isError ?? false,
    progress,
  }),
);
await client.close();
