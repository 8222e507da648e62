// Runs the client of the TypeScript SDK: it connects, and for each line of standard input, {"tool": …, "arguments": …},
// it lists the tools, calls that tool, and prints the outcome as one line of JSON.
//
//     node client.mjs TARGET auto|legacy|modern|sse
//
// TARGET is a URL, or a JSON array: the command of a server on standard input and output.
import { createInterface } from 'node:readline';
import { Client, SSEClientTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const [target, mode] = process.argv.slice(2);
const negotiation = { auto: 'auto', modern: { pin: '2026-07-28' } }[mode] ?? 'legacy';
const client = new Client({ name: 'typescript', version: '2.4.0' }, { versionNegotiation: { mode: negotiation } });
let closed = false;
client.onclose = () => (closed = true);

function transport() {
  if (target.startsWith('[')) {
    const [command, ...args] = JSON.parse(target);
    return new StdioClientTransport({ command, args, env: process.env, stderr: 'inherit' });
  }
  return mode === 'sse' ? new SSEClientTransport(new URL(target)) : new StreamableHTTPClientTransport(new URL(target));
}

async function call(one) {
  let progress = 0;
  try {
    const result = await client.callTool({ name: one.tool, arguments: one.arguments }, { onprogress: () => progress++ });
    const text = result.content.map((c) => c.text ?? '').join('');
    return { text, structured: result.structuredContent, isError: result.isError ?? false, progress };
  } catch (e) {
    return { error: String(e) };
  }
}

await client.connect(transport());
for await (const line of createInterface({ input: process.stdin })) {
  const { tools } = await client.listTools();
  const result = await call(JSON.parse(line));
  console.log(
    JSON.stringify({
      version: client.getNegotiatedProtocolVersion(),
      server: client.getServerVersion()?.name,
      tools: tools.map((t) => t.name),
      closed,
      ...result,
    }),
  );
}
await client.close();
