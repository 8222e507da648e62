// Package skill has what both ends of the Skills extension of MCP (SEP-2640, io.modelcontextprotocol/skills) share: the
// entry of a skill, its frontmatter, and the digests of its files. Package mcpserver/skills serves skills,
// mcpclient/skills reads them.
//
// A skill is a directory with a file SKILL.md, which begins with YAML frontmatter and says in plain text how to do
// something. See https://modelcontextprotocol.io/extensions/skills/overview and https://agentskills.io/specification.
package skill
