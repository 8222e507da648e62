package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/internal/atomicfile"
	"github.com/mcpotel/mcpotel/internal/command/userfile"
)

// serversFile is a host's file that is being changed.
type serversFile struct {
	path    string // path of the file; the target if a link was given
	text    []byte
	mode    fs.FileMode
	servers []member // with offsets in text
}

// mostToChange bounds the size of a file to change.
const mostToChange = 16 << 20

// readServersFile reads a file that only its user can write, because hosts run the commands in it.
func readServersFile(path string) (*serversFile, error) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	text, info, err := userfile.Read(path, mostToChange)
	if err != nil {
		return nil, err
	}
	if err := onlyMine(info, os.Geteuid()); err != nil {
		return nil, err
	}
	f := &serversFile{path: path, text: text, mode: info.Mode().Perm()}
	f.servers, err = serversIn(f.text)
	return f, err
}

// onlyMine returns an error if another user can write a file: by its mode, or as its owner, who can change the mode.
func onlyMine(info fs.FileInfo, user int) error {
	if info.Mode().Perm()&0o022 != 0 && runtime.GOOS != "windows" { // where modes do not describe other users
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
	return nil, errors.New("the file has no member mcpServers")
}

// with returns the text of the file with the changed servers.
func (f *serversFile) with(changes []rewrite) []byte {
	var edits []edit
	for _, c := range changes {
		edits = append(edits, edit{c.from, c.end(), string(c.after)})
	}
	return apply(f.text, edits)
}

// write keeps a backup of the file and replaces the file with text atomically.
func (f *serversFile) write(text []byte) (backup string, err error) {
	err = userfile.Change(f.path, f.mode, func(now []byte) ([]byte, error) {
		if !bytes.Equal(now, f.text) {
			return nil, userfile.ErrChanged
		}
		backup = f.path + backupPrefix + time.Now().UTC().Format(backupTime) + backupSuffix
		return text, atomicfile.Replace(context.Background(), backup, f.text, f.mode&0o600, func() error {
			if _, err := os.Lstat(backup); err == nil {
				return fmt.Errorf("%s exists: try again", backup)
			}
			return nil
		})
	})
	return backup, err
}

// A backup's name is the file's name with the time in between, so later backups sort after earlier ones.
const (
	backupPrefix = ".mcpotel-"
	backupTime   = "20060102T150405.000Z"
	backupSuffix = ".bak"
)

// mostBackups bounds how many backups of a file are read, from the newest.
const mostBackups = 100

// backups returns the paths of the backups of the file, the newest first.
func (f *serversFile) backups() (paths []string) {
	dir, name := filepath.Split(f.path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range slices.Backward(entries) { // they are sorted by name
		if strings.HasPrefix(e.Name(), name+backupPrefix) && strings.HasSuffix(e.Name(), backupSuffix) {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths[:min(len(paths), mostBackups)]
}

// originals returns the text of wrapped servers before wrapping. It uses a backup only if wrapping its server again
// gives the present server.
func (f *serversFile) originals(wrapped map[string]*savedServer) map[string][]byte {
	found := map[string][]byte{}
	for _, path := range f.backups() {
		if len(found) == len(wrapped) {
			break
		}
		text, _, err := userfile.Read(path, mostToChange)
		if err != nil {
			continue
		}
		servers, _ := serversIn(text) // an invalid backup has no servers
		for _, m := range servers {
			now := wrapped[m.name]
			if now == nil || found[m.name] != nil {
				continue
			}
			before, err := readServer(text[m.from:m.end()])
			if err != nil || before.wrapped() {
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
