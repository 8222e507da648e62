// Package hostfile reads and changes the files in which hosts save their servers, and the file of this program. It adds
// servers, puts saved servers behind the proxy, and undoes both changes. The files belong to the user and are rarely strict JSON, so a
// change edits their text and keeps the rest byte for byte.
package hostfile

import (
	"os"
	"path/filepath"
)

// Host is a program with its own file of servers. All commands read these files. Only "wrap", "unwrap" and
// "install" write the files of other programs, because the files belong to the user. A file in a project is not read by default, because it
// may have come with the project.
type Host struct {
	ID, Title string
	Project   string                 // the path of the file in a project; empty for none
	within    func() (string, error) // directory to which path is relative
	path      []string
}

// Own is the id of this program's own file.
const Own = "mcpotel"

// Hosts lists this program and well-known hosts.
var Hosts = []Host{
	{Own, "mcpotel", "", os.UserConfigDir, []string{"mcpotel", "servers.json"}},
	{"claude-desktop", "Claude Desktop", "", os.UserConfigDir, []string{"Claude", "claude_desktop_config.json"}},
	{"claude-code", "Claude Code", ".mcp.json", os.UserHomeDir, []string{".claude.json"}},
	{"cursor", "Cursor", ".cursor/mcp.json", os.UserHomeDir, []string{".cursor", "mcp.json"}},
	{"vscode", "VS Code", ".vscode/mcp.json", os.UserConfigDir, []string{"Code", "User", "mcp.json"}},
	{"windsurf", "Windsurf", "", os.UserHomeDir, []string{".codeium", "windsurf", "mcp_config.json"}},
	{"gemini", "Gemini CLI", ".gemini/settings.json", os.UserHomeDir, []string{".gemini", "settings.json"}},
}

// File returns the path of the host's file, which may not exist.
func (h *Host) File() (string, error) {
	dir, err := h.within()
	if err != nil {
		return "", err
	}
	return filepath.Join(append([]string{dir}, h.path...)...), nil
}
