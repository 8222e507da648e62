package main

import (
	"os"
	"path/filepath"
	"strings"
)

// host is a program that has a file of servers of its own. Those files are read, and written by "wrap" and "unwrap"
// alone. They are those of the user: one that lies in a project may have come with it.
type host struct {
	id, title string
	within    func() (string, error) // the directory that the path is in
	path      []string
	project   string // the path of such a file in a project, empty for none
}

// ours is the id of this program's own file.
const ours = "mcpotel"

// hosts are this program and the usual ones.
var hosts = []host{
	{ours, "mcpotel", os.UserConfigDir, []string{"mcpotel", "servers.json"}, ""},
	{"claude-desktop", "Claude Desktop", os.UserConfigDir, []string{"Claude", "claude_desktop_config.json"}, ""},
	{"claude-code", "Claude Code", os.UserHomeDir, []string{".claude.json"}, ".mcp.json"},
	{"cursor", "Cursor", os.UserHomeDir, []string{".cursor", "mcp.json"}, ".cursor/mcp.json"},
	{"vscode", "VS Code", os.UserConfigDir, []string{"Code", "User", "mcp.json"}, ".vscode/mcp.json"},
	{"windsurf", "Windsurf", os.UserHomeDir, []string{".codeium", "windsurf", "mcp_config.json"}, ""},
	{"gemini", "Gemini CLI", os.UserHomeDir, []string{".gemini", "settings.json"}, ".gemini/settings.json"},
}

// file returns the path of the host's file, whether or not there is one.
func (h *host) file() (string, error) {
	dir, err := h.within()
	if err != nil {
		return "", err
	}
	return filepath.Join(append([]string{dir}, h.path...)...), nil
}

// hostOf returns the host of an id.
func hostOf(id string) (*host, error) {
	var ids []string
	for i := range hosts {
		if hosts[i].id == id {
			return &hosts[i], nil
		}
		ids = append(ids, hosts[i].id)
	}
	return nil, misuse("no host %q%s; want one of %s, or --config FILE", id, hint(id, ids), strings.Join(ids, ", "))
}
