// Lists the tools with the TypeScript SDK's client, makes the calls of $CALLS and prints what
// came back as JSON. usage: node typescript.mjs http URL TOKEN | node typescript.mjs stdio COMMAND [ARG...]
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [mode, ...rest] = process.argv.slice(2);
const transport = mode === "http"
  ? new StreamableHTTPClientTransport(new URL(rest[0]), { requestInit: { headers: { Authorization: `Bearer ${rest[1]}` } } })
  : new StdioClientTransport({ command: rest[0], args: rest.slice(1), env: process.env, stderr: "inherit" });
const client = new Client({ name: "typescript", version: "1" });
await client.connect(transport);

// Listing also makes the client validate structured content against each tool's outputSchema.
const report = { server: client.getServerVersion().name, tools: (await client.listTools()).tools, results: [] };
for (const { id, name, arguments: args, cancel } of JSON.parse(process.env.CALLS)) {
  const abort = new AbortController();
  const call = client.callTool({ name, arguments: args, ...(id && { _meta: { "toolboundary/toolCallId": id } }) }, undefined, { signal: abort.signal });
  if (cancel) setTimeout(() => abort.abort(cancel), 50);
  report.results.push(await call.catch((e) => ({ thrown: { code: e.code, message: e.message ?? String(e) } })));
}
console.log(JSON.stringify(report));
await client.close();
