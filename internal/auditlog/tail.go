package auditlog

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
)

// tailSize is the size of the part at the end of a file that must contain a complete line, in bytes. An incomplete line
// is at most as long as a gap and a record.
const tailSize = 4 * MaxLine

var errForeign = errors.New("the end of the file is not an audit record: give the path of a new file, or run " +
	"\"mcpotel audit verify\" on this one")

// firstLine is the beginning of every first line.
var firstLine = `{"sequence":1,"previous":"` + Hash{}.String() + `"`

// tailOf returns the last complete line of f, the incomplete line after it, and the size of f. A file without a
// complete line must be empty, or consist of a part of a first line.
func tailOf(f *os.File) (last line, torn []byte, size int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return last, nil, 0, err
	}
	size = info.Size()
	from := max(0, size-tailSize)
	tail := make([]byte, size-from)
	if _, err := io.ReadFull(io.NewSectionReader(f, from, size-from), tail); err != nil {
		return last, nil, 0, err
	}
	for end := len(tail); ; {
		end = bytes.LastIndexByte(tail[:end], '\n') + 1
		if end == 0 {
			break
		}
		start := bytes.LastIndexByte(tail[:end-1], '\n') + 1
		if last, err := parseLine(tail[start:end]); err == nil {
			return last, tail[end:], size, nil
		}
		end--
	}
	begin := string(tail[:min(len(tail), len(firstLine))])
	if from > 0 || !strings.HasPrefix(firstLine, begin) {
		return last, nil, 0, errForeign
	}
	return line{}, tail, size, nil
}
