// A server of both eras, on the TypeScript SDK. Without arguments, it serves standard input and output. With the
// argument "http", it serves the path /mcp and answers modern requests with JSON; with "sse", it answers them with
// streams. It listens on a free port of the loopback interface, or on the port in MCPOTEL_PORT.
import { createServer } from 'node:http';
import { localhostHostValidation, toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod/v4';

function server() {
  const s = new McpServer({ name: 'dual', version: '1.0.0' });
  s.registerTool(
    'add',
    {
      description: 'adds two numbers',
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      outputSchema: z.object({ sum: z.number() }),
    },
    ({ a, b }) => ({ content: [{ type: 'text', text: `${a} + ${b} = ${a + b}` }], structuredContent: { sum: a + b } }),
  );
  return s;
}

const [transport] = process.argv.slice(2);
if (transport) {
  const serve = toNodeHandler(createMcpHandler(server, { responseMode: transport === 'sse' ? 'sse' : 'json' }));
  const local = localhostHostValidation();
  const web = createServer((request, response) => {
    if (local(request, response)) serve(request, response);
  });
  web.listen(Number(process.env.MCPOTEL_PORT ?? 0), '127.0.0.1', () => console.error(`listening on http://127.0.0.1:${web.address().port}`));
} else {
  serveStdio(server);
}
