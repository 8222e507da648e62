// Package skill holds the parts of MCP's Skills extension (SEP-2640, io.modelcontextprotocol/skills) that clients and
// servers share: the entry of a skill, its frontmatter, and the digests of its files. Package mcpserver/skills serves
// skills; mcpclient/skills reads them.
//
// A skill is a directory with a file SKILL.md, which begins with YAML frontmatter and describes in plain text how to
// do a task. See https://modelcontextprotocol.io/extensions/skills/overview and https://agentskills.io/specification.
package skill
