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
// A server has these members. All but command and url are optional, and null means that the member is absent:
//
//   - command, args, env, cwd: a program to run. Its environment is env and [Options.Environ].
//   - url, headers: a server over HTTP.
//   - type, or transport: stdio, http, streamable-http (also written streamableHttp) or sse. The default is stdio for a
//     command; for a url the client detects the transport.
//   - disabled: true skips the server without reading its members.
//   - listen: false stops the client from listening for changes, for a server that stops answering after that; see
//     NoListening of [mcpclient.Options] for the consequences.
//   - timeout: the limit for each request, in milliseconds, or as text with a unit ("30s").
//
// In command, args, env, cwd, url and headers, ${VAR} and ${env:VAR} are replaced by the environment variable VAR,
// which must be set. ${VAR:-default} has a default. A dollar sign without a brace stands for itself. Values of
// variables are not expanded again.
//
// What may surprise:
//
//   - The servers of a file are commands that the caller runs. Do not read a file that other users can write.
//   - The servers may also be in "servers", if there is no "mcpServers".
//   - Unknown members of a server cause a warning. Unknown members beside "mcpServers" are ignored, because the file
//     may have other settings.
//   - Errors and warnings name the place but never the value, which may be a secret.
package config
