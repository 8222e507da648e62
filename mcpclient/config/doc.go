// Package config reads the file format in which many MCP hosts store their servers:
//
//	{
//	  "mcpServers": {
//	    "github": {
//	      "command": "npx",
//	      "args": ["-y", "@modelcontextprotocol/server-github"],
//	      "env": {"GITHUB_TOKEN": "${GITHUB_TOKEN}"}
//	    },
//	    "search": {
//	      "type": "http",
//	      "url": "https://${SEARCH_HOST:-search.example.com}/mcp",
//	      "headers": {"Authorization": "Bearer ${SEARCH_TOKEN}"},
//	      "timeout": 60000
//	    }
//	  }
//	}
//
// [Load] reads a file, and [Config.Members] returns the members for [mcpclient.NewGroup]:
//
//	c, err := config.Load("mcp.json", nil)
//	if err != nil {
//		return err
//	}
//	group, err := mcpclient.NewGroup(c.Members(nil), nil)
//
// A server has the following members. A server needs command or url; all other members are optional, and null means
// that the member is absent:
//
//   - command, args, env, cwd: a program to run. Its environment is env and [Options.Environ].
//   - url, headers: a server over HTTP.
//   - type, or transport: stdio, http, streamable-http (also written streamableHttp) or sse. The default is stdio for a
//     command; for a url, the client detects the transport.
//   - disabled: true skips the server without reading its other members.
//   - listen: false stops the client from listening for changes. Use it for a server that stops answering after such a
//     request; see NoListening of [mcpclient.Options] for the consequences.
//   - start: "lazy" starts the server at its first use; the default is "eager". See Lazy of [mcpclient.Member].
//   - idle: the time without use after which the server stops, in milliseconds or with a unit ("5m"). See Idle of
//     [mcpclient.Member].
//   - timeout: the limit for each request, in milliseconds, or as a string with a unit ("30s").
//
// In command, args, env, cwd, url and headers, the environment variable VAR replaces ${VAR} and ${env:VAR}. VAR must be
// set, except in ${VAR:-default}, which has a default. A dollar sign without a brace stands for itself. Values of
// variables are not expanded again.
//
// Possible surprises:
//
//   - The servers of a file are commands that the caller runs. Do not read a file that other users can write.
//   - Without "mcpServers", the servers may be in "servers".
//   - Unknown members of a server cause a warning. Unknown members next to "mcpServers" are ignored, because the file
//     may contain other settings.
//   - Errors and warnings name the place but never the value, which may be a secret.
package config
