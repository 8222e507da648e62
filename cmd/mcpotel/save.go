package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"github.com/mcpotel/mcpotel/internal/visible"
	"github.com/mcpotel/mcpotel/mcp"
)

// saver is the flag --output: the directory for the images, audio and blobs of a result. For any name that a server
// sends, saver neither overwrites a file nor writes outside of the directory.
type saver struct{ dir string }

func (s *saver) flags(f *pflag.FlagSet) {
	f.StringVarP(&s.dir, "output", "o", "",
		"save images, audio and blobs of the result in this `DIRECTORY`, which is created if needed; no file is "+
			"overwritten")
}

// make creates the directory. The command calls it first.
func (s *saver) make() error {
	if s.dir == "" {
		return nil
	}
	if err := os.MkdirAll(s.dir, 0o777); err != nil {
		return misuse("--output: %w", err)
	}
	return nil
}

// content saves the file in a block of content, and returns a text with its path. The text is empty for blocks without
// a file.
func (s *saver) content(name string, c mcp.Content) (saved string, _ error) {
	if s.dir == "" {
		return "", nil
	}
	switch c := c.(type) {
	case *mcp.ImageContent:
		data, err := c.Bytes()
		return s.decoded("image", name, c.MIMEType, data, err)
	case *mcp.AudioContent:
		data, err := c.Bytes()
		return s.decoded("audio", name, c.MIMEType, data, err)
	case *mcp.EmbeddedResource:
		if c.Resource.Blob != nil {
			return s.resource(name, c.Resource)
		}
	}
	return "", nil
}

// decoded saves decoded data, unless decoding has failed with err.
func (s *saver) decoded(kind, name, mimeType string, data []byte, err error) (string, error) {
	if err != nil {
		return "", &exitError{exitTool, fmt.Errorf("%s: %w", kind, err)}
	}
	return s.file(kind+" "+mimeType, name, mimeType, data)
}

// resource saves the contents of a resource. The last part of its URI becomes the file name.
func (s *saver) resource(name string, r *mcp.ResourceContents) (string, error) {
	data, err := r.Bytes()
	if err != nil {
		return "", &exitError{exitTool, fmt.Errorf("%s: %w", r.URI, err)}
	}
	if u, err := url.Parse(r.URI); err == nil {
		for _, end := range []string{path.Base(u.Path), u.Opaque, u.Host} {
			if end != "" && end != "." && end != "/" {
				name = end
				break
			}
		}
	}
	return s.file("resource "+r.URI, name, r.MIMEType, data)
}

// file writes a new file and returns a text with its kind, size and path.
func (s *saver) file(what, name, mimeType string, data []byte) (string, error) {
	saved, err := s.write(fileName(name, mimeType), data)
	if err != nil {
		return "", fmt.Errorf("--output: %w", err)
	}
	return visible.Line(fmt.Sprintf("[%s, %d bytes: saved as %s]", what, len(data), saved)), nil
}

const (
	mostAlike   = 1000 // maximum of files whose names differ only in the number that write appends
	longestName = 255  // maximum of bytes in a name, the limit of common file systems
)

// write writes a new file. If a file with this name exists, it appends a number to the name.
func (s *saver) write(name string, data []byte) (path string, _ error) {
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	extension := filepath.Ext(name)
	stem := strings.TrimSuffix(name, extension)
	for n := 1; n <= mostAlike; n++ {
		f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) {
			name = fmt.Sprintf("%s-%d%s", stem, n+1, extension)
			continue
		}
		if err != nil {
			return "", err
		}
		err = printBytes(f, data)
		return filepath.Join(s.dir, name), errors.Join(err, f.Close())
	}
	return "", fmt.Errorf("%s already has %d files named like %s%s", s.dir, mostAlike, stem, extension)
}

// extensions has the file name extensions of common types.
var extensions = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", "image/svg+xml": ".svg",
	"image/bmp": ".bmp", "image/tiff": ".tiff", "image/avif": ".avif",
	"audio/wav": ".wav", "audio/x-wav": ".wav", "audio/mpeg": ".mp3", "audio/ogg": ".ogg", "audio/flac": ".flac",
	"audio/mp4": ".m4a", "audio/webm": ".weba", "video/mp4": ".mp4", "video/webm": ".webm",
	"application/pdf": ".pdf", "application/zip": ".zip", "application/gzip": ".gz", "application/json": ".json",
	"text/plain": ".txt", "text/markdown": ".md", "text/html": ".html", "text/csv": ".csv", "text/css": ".css",
}

// fileName derives a safe file name from a server's name. The file name has an extension, consists of letters, digits,
// dots, dashes and underscores, and is neither hidden nor the name of a device. It leaves room for the number that
// write may append.
func fileName(name, mimeType string) string {
	safe := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_.", r) {
			return r
		}
		return '-'
	}, name)
	safe = strings.Trim(safe, "-.")
	mimeType, _, _ = strings.Cut(strings.ToLower(mimeType), ";")
	extension := cmp.Or(extensions[strings.TrimSpace(mimeType)], filepath.Ext(safe), ".bin")
	safe = cmp.Or(strings.TrimSuffix(safe, filepath.Ext(safe)), "result")
	if len(extension) > 10 {
		extension = ".bin"
	}
	device, _, _ := strings.Cut(strings.ToUpper(safe), ".")
	switch strings.TrimRight(device, "0123456789¹²³") {
	case "CON", "PRN", "AUX", "NUL", "COM", "LPT":
		safe = "_" + safe
	}
	room := longestName - len(fmt.Sprintf("-%d", mostAlike)) - len(extension)
	for len(safe) > room {
		_, last := utf8.DecodeLastRuneInString(safe)
		safe = safe[:len(safe)-last]
	}
	return safe + extension
}
