// Package config reads the file in which programs that use MCP servers keep them, as many of them share it:
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
// [Load] reads a file, and [Config.Members] are what [mcpclient.NewGroup] takes:
//
//	c, err := config.Load("mcp.json", nil)
//	if err != nil {
//		return err
//	}
//	group, err := mcpclient.NewGroup(c.Members(nil), nil)
//
// A server has these members; all but command and url may be left out, and null is as if left out:
//
//   - command, args, env, cwd: a program to run. It gets its env and, of the environment of this process, only what
//     [Options.Environ] says.
//   - url, headers: a server to reach over HTTP.
//   - type, or transport: stdio, http, streamable-http (also written streamableHttp) or sse. Without it, a command is
//     stdio, and with a url the client finds out by itself.
//   - disabled: true leaves the server out, unread.
//   - listen: false keeps the client from listening to changes, for a server that stops answering after that; see
//     NoListening of [mcpclient.Options] for what is lost.
//   - timeout: of each request, in milliseconds, or as text with a unit ("30s").
//
// In command, args, env, cwd, url and headers, ${VAR} and ${env:VAR} stand for a variable of the environment, which
// must be set, and ${VAR:-default} for a default if it is not. A dollar sign without a brace is one. What a variable
// contains is not looked at again.
//
// What may surprise:
//
//   - Running a server of a file is running what the file says. Read no file that others can write.
//   - The servers may also stand under "servers", if there is no "mcpServers".
//   - Members that this package does not know are warned about, those beside "mcpServers" ignored: the file may have
//     much else.
//   - Errors and warnings name the place, and never a value: that may be a secret.
package config
