// SPDX-License-Identifier: GPL-2.0-or-later
// The official MCP clients, as lines of JSON tell them: {"id", "do": NAME, …} on standard input, {"id", "result"} or {"id", "error"} on standard
// output, and {"of": ID, "progress", …} meanwhile. mcp_clients.py drives it.
import readline from 'node:readline';

const about = {name: 'glovebox-tests', version: '1'};
const running = new Map();
let client;
let transport;

const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);

// The clients of today's packages and of the one before them, by transport.
const packages = {
  async now(where, mode) {
    const {Client, StreamableHTTPClientTransport} = await import('@modelcontextprotocol/client');
    const {StdioClientTransport} = await import('@modelcontextprotocol/client/stdio');
    return {client: new Client(about, {versionNegotiation: {mode}}), Http: StreamableHTTPClientTransport, Stdio: StdioClientTransport};
  },
  async before() {
    const {Client} = await import('@modelcontextprotocol/sdk/client/index.js');
    const {StreamableHTTPClientTransport} = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
    const {StdioClientTransport} = await import('@modelcontextprotocol/sdk/client/stdio.js');
    return {client: new Client(about), Http: StreamableHTTPClientTransport, Stdio: StdioClientTransport};
  },
};

const ops = {
  async connect({from, mode, url, token, command, args, env}) {
    const made = await packages[from](url, mode);
    client = made.client;
    transport = url ? new made.Http(new URL(url), {requestInit: {headers: {Authorization: `Bearer ${token}`}}})
      : new made.Stdio({command, args, env});
    await client.connect(transport);
    return {server: client.getServerVersion(), version: client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion,
      instructions: client.getInstructions(), pid: transport.pid};
  },
  async tools() {
    return (await client.listTools()).tools;
  },
  async call({id, name, args, progress, from}) {
    const stop = new AbortController();
    running.set(id, stop);
    const options = {signal: stop.signal, timeout: 60000, resetTimeoutOnProgress: true,
      ...(progress ? {onprogress: (told) => say({of: id, ...told})} : {})};
    try {
      const params = {name, arguments: args};
      return await (from === 'before' ? client.callTool(params, undefined, options) : client.callTool(params, options));
    } finally {
      running.delete(id);
    }
  },
  async abort({call}) {
    running.get(call).abort('enough');
    return {};
  },
  async close() {
    const started = Date.now();
    if (transport.terminateSession && transport.sessionId)
      await transport.terminateSession();
    await client.close();
    return {ms: Date.now() - started};
  },
};

for await (const line of readline.createInterface({input: process.stdin})) {
  const {do: op, ...asked} = JSON.parse(line);
  ops[op](asked).then((result) => say({id: asked.id, result: result ?? null}),
    (error) => say({id: asked.id, error: String(error?.message ?? error), code: error?.code ?? null}));
}
process.exit(0);
