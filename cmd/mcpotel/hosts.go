package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/mcpotel/mcpotel/internal/command/typing"
)

// host is a program with its own file of servers. All commands read these files, and only "wrap" and "unwrap" write
// them. The files belong to the user. A file in a project is not read by default, because it may have come with the
// project.
type host struct {
	id, title string
	within    func() (string, error) // the directory that path is relative to
	path      []string
	project   string // the path of the file in a project; empty for none
}

// ours is the id of this program's own file.
const ours = "mcpotel"

// hosts lists this program and well-known hosts.
var hosts = []host{
	{ours, "mcpotel", os.UserConfigDir, []string{"mcpotel", "servers.json"}, ""},
	{"claude-desktop", "Claude Desktop", os.UserConfigDir, []string{"Claude", "claude_desktop_config.json"}, ""},
	{"claude-code", "Claude Code", os.UserHomeDir, []string{".claude.json"}, ".mcp.json"},
	{"cursor", "Cursor", os.UserHomeDir, []string{".cursor", "mcp.json"}, ".cursor/mcp.json"},
	{"vscode", "VS Code", os.UserConfigDir, []string{"Code", "User", "mcp.json"}, ".vscode/mcp.json"},
	{"windsurf", "Windsurf", os.UserHomeDir, []string{".codeium", "windsurf", "mcp_config.json"}, ""},
	{"gemini", "Gemini CLI", os.UserHomeDir, []string{".gemini", "settings.json"}, ".gemini/settings.json"},
}

// file returns the path of the host's file, which may not exist.
func (h *host) file() (string, error) {
	dir, err := h.within()
	if err != nil {
		return "", err
	}
	return filepath.Join(append([]string{dir}, h.path...)...), nil
}

// hostOf returns the host with this id.
func hostOf(id string) (*host, error) {
	var ids []string
	for i := range hosts {
		if hosts[i].id == id {
			return &hosts[i], nil
		}
		ids = append(ids, hosts[i].id)
	}
	return nil, misuse("no host %q%s; want one of %s, or --config FILE", id, typing.Hint(id, ids), strings.Join(ids, ", "))
}
