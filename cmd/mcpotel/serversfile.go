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
)

// serversFile is a file of a host that is to be changed.
type serversFile struct {
	path    string // of the file itself, where a link to it was given
	text    []byte
	mode    fs.FileMode
	servers []member // their places are those in text
}

// mostToChange bounds the files that are changed.
const mostToChange = 16 << 20

// readServersFile reads a file that only its user can write: what it says is run.
func readServersFile(path string) (*serversFile, error) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	text, info, err := readRegular(path, mostToChange)
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

// onlyMine returns an error if another user can write a file: by its mode, or as its owner, who can change the
// mode.
func onlyMine(info fs.FileInfo, user int) error {
	if info.Mode().Perm()&0o022 != 0 && runtime.GOOS != "windows" { // where modes say nothing of others
		return errors.New("others can write it, and what it says is run: chmod go-w takes that from them")
	}
	if uid, known := owner(info); known && uid != user && uid != 0 { // root can do so anyway
		return fmt.Errorf("it is a file of another user, number %d, who can change it, and what it says is run: copy it, or "+
			"chown it to you", uid)
	}
	return nil
}

// serversIn returns the servers of a file, with their places in it.
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
	return nil, errors.New("there is no member mcpServers")
}

// with returns the text of the file with these servers as they are to be.
func (f *serversFile) with(changes []rewrite) []byte {
	var edits []edit
	for _, c := range changes {
		edits = append(edits, edit{c.from, c.end(), string(c.after)})
	}
	return apply(f.text, edits)
}

// write keeps the file as it is beside it, and puts text in its place, at once or not at all.
func (f *serversFile) write(text []byte) (backup string, err error) {
	err = changeFile(f.path, f.mode, func(now []byte) ([]byte, error) {
		if !bytes.Equal(now, f.text) {
			return nil, errChanged
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

// The names of backups are those of their files, with the time between these; so later ones sort behind.
const (
	backupPrefix = ".mcpotel-"
	backupTime   = "20060102T150405.000Z"
	backupSuffix = ".bak"
)

// mostBackups bounds how many backups of a file are looked at, the newest.
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

// originals returns the text that wrapped servers had before, where a backup has one of which wrapping makes what there
// is now.
func (f *serversFile) originals(wrapped map[string]*savedServer) map[string][]byte {
	found := map[string][]byte{}
	for _, path := range f.backups() {
		if len(found) == len(wrapped) {
			break
		}
		text, _, err := readRegular(path, mostToChange)
		if err != nil {
			continue
		}
		servers, _ := serversIn(text) // none of what is no such file
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
