package auditlog

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

// MaxLine bounds a line of an audit file, in bytes.
const MaxLine = 64 << 10

// Events about the file itself.
const (
	eventOpened = "opened"
	eventClosed = "closed"
	eventGap    = "gap"
)

// Hash is the hash of a line.
type Hash [sha256.Size]byte

func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// Head identifies a line, and with it all lines before. The zero Head stands for the start of a file.
type Head struct {
	Sequence uint64
	Hash     Hash
}

func (h Head) String() string { return strconv.FormatUint(h.Sequence, 10) + ":" + h.Hash.String() }

// ParseHead parses the text of [Head.String].
func ParseHead(text string) (h Head, err error) {
	sequence, hash, _ := strings.Cut(text, ":")
	h.Sequence, err = strconv.ParseUint(sequence, 10, 64)
	raw, notHex := hex.DecodeString(hash)
	if err != nil || notHex != nil || len(raw) != len(h.Hash) || h.Sequence == 0 {
		return Head{}, fmt.Errorf("head %q: want SEQUENCE:HASH, with the audit.sequence and the audit.hash of a log record",
			text)
	}
	copy(h.Hash[:], raw)
	return h, nil
}

// The end of a line: a hash between beforeHash and afterHash.
const (
	beforeHash = `,"hash":"`
	afterHash  = "\"}\n"
	endSize    = len(beforeHash) + 2*sha256.Size + len(afterHash)
)

// appendLine appends the line that follows the line with the head h. It returns the head of the new line.
func appendLine(dst []byte, h Head, at time.Time, event string, fields []slog.Attr) ([]byte, Head) {
	start := len(dst)
	next := Head{Sequence: h.Sequence + 1}
	dst = append(dst, `{"sequence":`...)
	dst = strconv.AppendUint(dst, next.Sequence, 10)
	dst = append(dst, `,"previous":"`...)
	dst = hex.AppendEncode(dst, h.Hash[:])
	dst = append(dst, `","time":"`...)
	dst = at.UTC().AppendFormat(dst, time.RFC3339Nano)
	dst = append(dst, `","event":`...)
	dst = jsonscan.AppendString(dst, event)
	for _, f := range fields {
		dst = append(dst, ',')
		dst = append(jsonscan.AppendString(dst, f.Key), ':')
		switch v := f.Value; v.Kind() {
		case slog.KindInt64:
			dst = strconv.AppendInt(dst, v.Int64(), 10)
		case slog.KindUint64:
			dst = strconv.AppendUint(dst, v.Uint64(), 10)
		case slog.KindBool:
			dst = strconv.AppendBool(dst, v.Bool())
		default:
			dst = jsonscan.AppendString(dst, v.String())
		}
	}
	next.Hash = sha256.Sum256(dst[start:])
	dst = append(dst, beforeHash...)
	dst = hex.AppendEncode(dst, next.Hash[:])
	return append(dst, afterHash...), next
}

// line is a line of a file, as far as the chain needs it.
type line struct {
	Head     `json:"-"`
	Sequence uint64    `json:"sequence"`
	Previous string    `json:"previous"`
	Time     time.Time `json:"time"`
	Event    string    `json:"event"`
	gap
}

// gap holds the members for what is missing before a line.
type gap struct {
	Lost       uint64 `json:"lost"`
	Unclean    bool   `json:"unclean"`
	TornBytes  int64  `json:"torn_bytes"`
	TornSHA256 string `json:"torn_sha256"`
}

func (g *gap) fields() (fields []slog.Attr) {
	if g.Lost > 0 {
		fields = append(fields, slog.Uint64("lost", g.Lost))
	}
	if g.Unclean {
		fields = append(fields, slog.Bool("unclean", true))
	}
	if g.TornBytes > 0 {
		fields = append(fields, slog.Int64("torn_bytes", g.TornBytes), slog.String("torn_sha256", g.TornSHA256))
	}
	return fields
}

var errNoLine = errors.New("not a line of an audit file")

// parseLine parses a line with its line break, and checks its own hash.
func parseLine(text []byte) (l line, err error) {
	if len(text) < endSize {
		return l, errNoLine
	}
	body, end := text[:len(text)-endSize], text[len(text)-endSize:]
	hash := Hash(sha256.Sum256(body))
	if string(end) != beforeHash+hash.String()+afterHash {
		return l, errNoLine
	}
	if err := json.Unmarshal(append(bytes.Clone(body), '}'), &l); err != nil {
		return l, errNoLine
	}
	l.Head = Head{l.Sequence, hash}
	return l, nil
}
