// Lists and calls both tools with the TypeScript SDK's client and prints what came back as JSON.
// usage: node typescript.mjs http URL TOKEN | node typescript.mjs stdio COMMAND [ARG...]
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [mode, ...rest] = process.argv.slice(2);
const transport = mode === "http"
  ? new StreamableHTTPClientTransport(new URL(rest[0]), { requestInit: { headers: { Authorization: `Bearer ${rest[1]}` } } })
  : new StdioClientTransport({ command: rest[0], args: rest.slice(1), env: process.env, stderr: "ignore" });
const client = new Client({ name: "typescript", version: "1" });
await client.connect(transport);

const call = (id, name, args) =>
  client.callTool({ name, arguments: args, ...(id && { _meta: { "toolboundary/toolCallId": id } }) });
const report = {
  protocolVersion: transport.protocolVersion ?? transport._protocolVersion ?? "",
  server: client.getServerVersion().name,
  // listTools also makes the client validate structured content against each outputSchema.
  tools: (await client.listTools()).tools,
  found: await call("call_1", "demo_query", { data_source: "shop", answer: [1, "é"] }),
  nothing: await call("call_2", "demo_schema", { answer: [] }),
  duplicate: await call("call_1", "demo_query", { answer: [2] }),
  refused: await call("call_3", "demo_query", { refuse: { code: "QUERY_REJECTED", reason: "UNKNOWN_COLUMN", detail: "customers.ssn is not available" } }),
  anonymous: await call(undefined, "demo_query", { answer: [3] }),
};
try {
  report.unknown = await call("call_4", "nosuch", {});
} catch (e) {
  report.unknown = { code: e.code, message: e.message };
}
const abort = new AbortController();
const blocked = client
  .callTool({ name: "demo_query", arguments: { do: "block" }, _meta: { "toolboundary/toolCallId": "call_5" } }, undefined, { signal: abort.signal })
  .catch((e) => String(e));
if (mode === "stdio") {
  // The cancellation is answered by the next call's record only, so make sure that both arrive in order.
  setTimeout(() => abort.abort("enough"), 200);
  report.cancelled = await blocked;
  report.after = await call("call_6", "demo_query", { answer: [6] });
}
console.log(JSON.stringify(report));
if (mode === "http") process.exit(0); // the blocked call has no end over a 2025 revision
await client.close();
