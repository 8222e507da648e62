package hostfile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/mcpotel/mcpotel/internal/atomicfile"
	"github.com/mcpotel/mcpotel/internal/command/userfile"
	"github.com/mcpotel/mcpotel/mcpclient/config"
)

// ErrInstalled is the error of Install for a name that the file has already.
var ErrInstalled = errors.New("the file has a server with this name")

// Form returns a server, in the mcpServers format, in the form that the host reads.
func (h *Host) Form(server json.RawMessage) (json.RawMessage, error) {
	members, err := membersOf(server)
	if err != nil {
		return nil, err
	}
	url := find(members, "url")
	switch {
	case h.ID == "claude-desktop" && url >= 0:
		return nil, errors.New("the file of Claude Desktop has only commands: install the command mcpotel proxy --url URL")
	case h.ID == "windsurf" && url >= 0:
		members[url].name = "serverUrl"
	case h.ID == "gemini" && url >= 0:
		members[url].name = "httpUrl"
	case h.servers() == "servers" && find(members, "type") < 0:
		kind := config.TypeStdio
		if url >= 0 {
			kind = config.TypeStreamable
		}
		members = append([]member{{name: "type", value: json.RawMessage(quote(string(kind)))}}, members...)
	}
	return object(members), nil
}

// servers returns the name of the member with the servers in the host's file.
func (h *Host) servers() string {
	if h.ID == "vscode" {
		return "servers"
	}
	return "mcpServers"
}

// Install adds a server to the host's file at a path. The rest of the file stays the same, byte for byte. It keeps a
// backup of the file, or creates the file if it does not exist; backup is then empty. It returns [ErrInstalled] if the
// file has a server with this name.
func (h *Host) Install(path, name string, server json.RawMessage) (backup string, err error) {
	f, err := Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		text, err := inserted([]byte("{}\n"), h.servers(), name, server)
		if err != nil {
			return "", err
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return "", err
		}
		return "", userfile.Change(path, 0o600, func(now []byte) ([]byte, error) {
			if now != nil {
				return nil, userfile.ErrChanged
			}
			return text, nil
		})
	}
	if err != nil && !errors.Is(err, errNoServers) {
		return "", err
	}
	if slices.Contains(f.Names(), name) {
		return "", ErrInstalled
	}
	text, err := inserted(f.text, h.servers(), name, server)
	if err != nil {
		return "", err
	}
	return f.replaceWith(text)
}

// Uninstall removes a server from the host's file at a path. If only Install has changed the file since a backup,
// Uninstall restores the file byte for byte, or removes the file that Install has created. It returns [ErrNotSaved] if
// the file has no such server.
func (h *Host) Uninstall(path, name string) (backup string, err error) {
	f, err := Open(path)
	if err != nil && !errors.Is(err, errNoServers) {
		return "", err
	}
	i := find(f.servers, name)
	if i < 0 {
		return "", ErrNotSaved
	}
	value := f.text[f.servers[i].from:f.servers[i].end()]
	if text, err := inserted([]byte("{}\n"), h.servers(), name, value); err == nil && bytes.Equal(text, f.text) {
		return "", os.Remove(f.Path)
	}
	for _, path := range f.backups() {
		before, _, err := userfile.Read(path, MaxSize)
		if err != nil {
			continue
		}
		if text, err := inserted(before, h.servers(), name, value); err == nil && bytes.Equal(text, f.text) {
			return f.replaceWith(before)
		}
	}
	return f.replaceWith(f.without(i))
}

// replaceWith replaces the text of the file, and keeps a backup.
func (f *File) replaceWith(text []byte) (backup string, err error) {
	err = userfile.Change(f.Path, f.mode, func(now []byte) ([]byte, error) {
		if !bytes.Equal(now, f.text) {
			return nil, userfile.ErrChanged
		}
		backup, err = f.backUp()
		return text, err
	})
	return backup, err
}

// without returns the text of the file without a server and its comma.
func (f *File) without(i int) []byte {
	all := f.servers
	switch {
	case i > 0:
		return apply(f.text, []edit{{all[i-1].end(), all[i].end(), ""}})
	case len(all) > 1:
		return apply(f.text, []edit{{all[0].at, all[1].at, ""}})
	}
	open := bytes.LastIndexByte(plain(f.text)[:all[0].at], '{')
	return apply(f.text, []edit{{open + 1, all[0].end(), ""}})
}

// inserted returns the text of a file with one more server, behind the others. If the file has no member with servers,
// key is the name of the new member.
func inserted(text []byte, key, name string, server json.RawMessage) ([]byte, error) {
	clean := plain(text)
	top, err := membersOf(clean)
	if err != nil {
		return nil, err
	}
	for _, known := range []string{"mcpServers", "servers"} {
		i := find(top, known)
		if i < 0 {
			continue
		}
		servers, err := membersOf(top[i].value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", known, err)
		}
		return insertedIn(text, clean, top[i].from, servers, "\n  ", name, server)
	}
	open := bytes.IndexByte(clean, '{')
	for i := range top {
		top[i].at -= open
		top[i].from -= open
	}
	var b bytes.Buffer
	value := object([]member{{name: name, value: server}})
	if err := json.Indent(&b, value, "  ", "  "); err != nil {
		return nil, err
	}
	return insertedIn(text, clean, open, top, "\n", key, b.Bytes())
}

// insertedIn inserts a member behind the members of the object at an offset. The offsets of the members are relative to
// the object. outer is the line break and the indentation of the object's closing brace.
func insertedIn(text, clean []byte, object int, members []member, outer, name string, value json.RawMessage) (
	[]byte, error) {
	gap := outer + "  "
	if len(members) > 0 {
		if first := clean[object+1 : object+members[0].at]; bytes.ContainsRune(first, '\n') {
			gap = "\n" + string(first[bytes.LastIndexByte(first, '\n')+1:])
		} else {
			gap = " "
		}
	}
	if !bytes.ContainsRune(value, '\n') && gap != " " {
		var b bytes.Buffer
		if err := json.Indent(&b, value, gap[1:], "  "); err != nil {
			return nil, err
		}
		value = b.Bytes()
	}
	entry := gap + quote(name) + ": " + string(value)
	if len(members) > 0 {
		at := object + members[len(members)-1].end()
		return apply(text, []edit{{at, at, "," + entry}}), nil
	}
	if clean[object+1] == '}' {
		entry += outer
	}
	return apply(text, []edit{{object + 1, object + 1, entry}}), nil
}

// backUp writes a backup of the file, and returns its path.
func (f *File) backUp() (backup string, _ error) {
	for at := time.Now().UTC(); ; at = at.Add(time.Millisecond) { // an earlier change may have taken the name
		backup = f.Path + backupPrefix + at.Format(backupTime) + backupSuffix
		if _, err := os.Lstat(backup); err != nil {
			break
		}
	}
	return backup, atomicfile.Replace(context.Background(), backup, f.text, f.mode&0o600, func() error {
		if _, err := os.Lstat(backup); err == nil {
			return fmt.Errorf("%s exists: try again", backup)
		}
		return nil
	})
}
