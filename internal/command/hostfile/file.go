package hostfile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/mcpotel/mcpotel/internal/command/userfile"
)

// File is a host's configuration file, opened for a change.
type File struct {
	Path    string // path of the file; the target if a link was given
	text    []byte
	mode    fs.FileMode
	servers []member // with offsets in text
}

// MaxSize bounds the size of a file to change, in bytes.
const MaxSize = 16 << 20

// Open reads a file. It refuses a file that other users can write, because hosts run the commands in it.
func Open(path string) (*File, error) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	text, info, err := userfile.Read(path, MaxSize)
	if err != nil {
		return nil, err
	}
	if err := onlyMine(info, os.Geteuid()); err != nil {
		return nil, err
	}
	f := &File{Path: path, text: text, mode: info.Mode().Perm()}
	f.servers, err = serversIn(f.text)
	return f, err
}

var errNoServers = errors.New("the file has no member mcpServers")

// onlyMine returns an error if another user can write a file: because of its mode, or because the other user owns the
// file.
func onlyMine(info fs.FileInfo, user int) error {
	if info.Mode().Perm()&0o022 != 0 && runtime.GOOS != "windows" { // modes on Windows do not describe other users
		return errors.New("other users can write the file, and hosts run the commands in it: use chmod go-w")
	}
	if uid, known := userfile.Owner(info); known && uid != user && uid != 0 { // root can change any file
		return fmt.Errorf("the file belongs to another user, uid %d, and hosts run the commands in it: copy the file, or "+
			"chown it to you", uid)
	}
	return nil
}

// serversIn returns the servers of a file, with their offsets.
func serversIn(text []byte) ([]member, error) {
	top, err := membersOf(plain(text))
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"mcpServers", "servers"} {
		i := find(top, name)
		if i < 0 {
			continue
		}
		servers, err := membersOf(top[i].value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for j := range servers {
			servers[j].at += top[i].from
			servers[j].nameEnd += top[i].from
			servers[j].from += top[i].from
		}
		return servers, nil
	}
	return nil, errNoServers
}

// Names returns the names of the servers in their order.
func (f *File) Names() (names []string) {
	for _, m := range f.servers {
		names = append(names, m.name)
	}
	return names
}

// Entry reads the server with the name Names()[i].
func (f *File) Entry(i int) (*Entry, error) {
	m := f.servers[i]
	e, err := readEntry(m.name, f.text[m.from:m.end()])
	if err == nil {
		e.from = m.from
	}
	return e, err
}

// Replace makes the changes: it keeps a backup of the file and replaces the file atomically.
func (f *File) Replace(changes []Change) (backup string, err error) {
	var edits []edit
	for _, c := range changes {
		edits = append(edits, edit{c.Entry.from, c.Entry.from + len(c.Entry.text), string(c.After)})
	}
	return f.replaceWith(apply(f.text, edits))
}

// The name of a backup is the name of the file, backupPrefix, the time and backupSuffix. Later backups sort after
// earlier backups.
const (
	backupPrefix = ".mcpotel-"
	backupTime   = "20060102T150405.000Z"
	backupSuffix = ".bak"
)

// mostBackups bounds how many backups of a file are read, from the newest.
const mostBackups = 100

// backups returns the paths of the backups of the file, the newest first.
func (f *File) backups() (paths []string) {
	dir, name := filepath.Split(f.Path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range slices.Backward(entries) { // os.ReadDir sorts them by name
		if strings.HasPrefix(e.Name(), name+backupPrefix) && strings.HasSuffix(e.Name(), backupSuffix) {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths[:min(len(paths), mostBackups)]
}

// Originals returns the texts of wrapped servers before wrapping, by name. It uses a server from a backup only if
// wrapping that server yields the current text.
func (f *File) Originals(wrapped []*Entry) map[string][]byte {
	servers := map[string]*Entry{}
	for _, e := range wrapped {
		servers[e.Name] = e
	}
	found := map[string][]byte{}
	for _, path := range f.backups() {
		if len(found) == len(wrapped) {
			break
		}
		text, _, err := userfile.Read(path, MaxSize)
		if err != nil {
			continue
		}
		backup, _ := serversIn(text) // an invalid backup has no servers
		for _, m := range backup {
			now := servers[m.name]
			if now == nil || found[m.name] != nil {
				continue
			}
			before, err := readEntry(m.name, text[m.from:m.end()])
			if err != nil || before.Wrapped() {
				continue
			}
			args := append(proxyArgs(m.name), now.options()...)
			again, err := before.wrap(args, string(now.member("command").value), now.added(before))
			if err == nil && bytes.Equal(again, now.text) {
				found[m.name] = before.text
			}
		}
	}
	return found
}
