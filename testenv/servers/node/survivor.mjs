// A host on the TypeScript SDK with a server that dies repeatedly: it calls a tool that kills the server, and another
// tool immediately afterwards. It prints as one line of JSON how many of the latter calls failed, and whether the
// connection was closed.
//
//     node survivor.mjs KILLS COMMAND [ARG...]
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const [kills, command, ...args] = process.argv.slice(2);
const client = new Client({ name: 'survivor', version: '1' }, { versionNegotiation: { mode: 'legacy' } });
const seen = { survived: 0, failed: [], closed: false };
client.onclose = () => (seen.closed = true);
await client.connect(new StdioClientTransport({ command, args, env: process.env, stderr: 'inherit' }));
for (let i = 0; i < Number(kills); i++) {
  await client.callTool({ name: 'crash' }).then(
    () => seen.failed.push('crash succeeded'),
    () => {},
  );
  await client.callTool({ name: 'forecast', arguments: { city: 'Oslo' } }).then(
    (r) => (r.isError ? seen.failed.push(JSON.stringify(r)) : seen.survived++),
    (e) => seen.failed.push(String(e)),
  );
}
console.log(JSON.stringify(seen));
client.onclose = () => {};
await client.close();
