package auditlog

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"time"
)

// Report describes a file.
type Report struct {
	Calls   uint64    // records of calls
	Lost    uint64    // records that could not be written
	Unclean uint64    // processes that ended without closing the Log
	Torn    int64     // size of an incomplete last line, in bytes
	First   time.Time // time of the first line
	Last    time.Time // time of the last line
	Head    Head      // of the last line
}

// BrokenError reports where and how the chain of a file is broken.
type BrokenError struct {
	Line   int // from 1; zero if the file is too short
	Reason string
}

func (e *BrokenError) Error() string {
	if e.Line == 0 {
		return e.Reason
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Reason)
}

// Verify reads a file and checks its chain. heads are heads that have been exported; Verify checks that the file
// contains each of them. The error is a [*BrokenError] if the chain is broken, and otherwise an error of reading. The
// Report describes the lines before the error.
//
// Verify keeps one line in memory.
func Verify(r io.Reader, heads ...Head) (Report, error) {
	v := verifier{heads: heads, at: 1}
	in := bufio.NewReaderSize(r, MaxLine)
	for {
		piece, err := in.ReadSlice('\n')
		if len(piece) > 0 {
			if err := v.read(piece); err != nil {
				return v.Report, err
			}
		}
		switch {
		case err == nil || errors.Is(err, bufio.ErrBufferFull):
		case err == io.EOF:
			return v.Report, v.end()
		default:
			return v.Report, err
		}
	}
}

// verifier is the state of Verify.
type verifier struct {
	Report
	heads []Head
	at    int // number of the line to read, from 1

	// Text that is not a valid line. It must be an incomplete line that the next line describes.

	strange  int       // number of the first line; zero for none
	sum      hash.Hash // of the text without its last line break
	size     int64     // of the text, with its last line break
	lines    int       // line breaks in the text
	inOnLine bool      // the text ends with a line break
}

// read checks a line, or a part of an oversized line.
func (v *verifier) read(piece []byte) error {
	number := v.at
	if piece[len(piece)-1] == '\n' {
		v.at++
	}
	l, err := parseLine(piece)
	if err != nil {
		v.collect(number, piece)
		return nil
	}
	if v.strange > 0 {
		if !v.explains(&l) {
			return v.changed()
		}
		v.strange = 0
	} else if l.TornBytes > 0 {
		return &BrokenError{number, "an incomplete line was removed before this line, which describes it"}
	}
	if err := v.follows(number, &l); err != nil {
		return err
	}
	v.count(&l)
	for _, h := range v.heads {
		if h.Sequence == l.Head.Sequence && h.Hash != l.Head.Hash {
			return &BrokenError{number, fmt.Sprintf("sequence %d has another hash than the head: this line or lines before "+
				"it were replaced, or the head belongs to another file", h.Sequence)}
		}
	}
	return nil
}

// collect adds a piece of text that is not a valid line.
func (v *verifier) collect(number int, piece []byte) {
	if v.strange == 0 {
		v.strange, v.sum, v.size, v.lines, v.inOnLine = number, sha256.New(), 0, 0, false
	}
	v.size += int64(len(piece))
	if v.inOnLine {
		v.sum.Write([]byte{'\n'})
	}
	text, ended := bytes.CutSuffix(piece, []byte{'\n'})
	v.sum.Write(text)
	if v.inOnLine = ended; ended {
		v.lines++
	}
}

// explains reports whether l describes the collected text.
func (v *verifier) explains(l *line) bool {
	return l.Event == eventOpened && v.inOnLine && l.TornBytes == v.size-1 &&
		l.TornSHA256 == hex.EncodeToString(v.sum.Sum(nil))
}

func (v *verifier) changed() error {
	return &BrokenError{v.strange, "the text does not fit its hash: the line was changed, or is not from an audit file"}
}

// follows returns an error unless l follows the line before.
func (v *verifier) follows(number int, l *line) error {
	switch want := v.Head.Sequence + 1; {
	case l.Sequence > want:
		return &BrokenError{number, fmt.Sprintf("sequence %d follows %d: %d lines between them were removed or moved",
			l.Sequence, v.Head.Sequence, l.Sequence-want)}
	case l.Sequence < want:
		return &BrokenError{number, fmt.Sprintf("sequence %d follows %d: lines were moved, copied or inserted", l.Sequence,
			v.Head.Sequence)}
	case l.Previous != v.Head.Hash.String():
		return &BrokenError{number, "the line does not continue the line before: one of them was replaced"}
	}
	return nil
}

func (v *verifier) count(l *line) {
	if v.Head.Sequence == 0 {
		v.First = l.Time
	}
	v.Head, v.Last = l.Head, l.Time
	switch l.Event {
	case eventGap:
		v.Lost += l.Lost
	case eventOpened:
		if l.Unclean {
			v.Unclean++
		}
	case eventClosed:
	default:
		v.Calls++
	}
}

// end checks the end of the file. A last line without a line break may be incomplete, because a process has crashed or
// is writing.
func (v *verifier) end() error {
	if v.strange > 0 {
		if v.lines > 0 {
			return v.changed()
		}
		v.Torn = v.size
	}
	for _, h := range v.heads {
		if h.Sequence > v.Head.Sequence {
			return &BrokenError{0, fmt.Sprintf("the file ends with sequence %d, before the head %d: %d lines at the end were "+
				"removed", v.Head.Sequence, h.Sequence, h.Sequence-v.Head.Sequence)}
		}
	}
	return nil
}
