package conn

import (
	"fmt"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/mcp"
)

// The client keeps the data of a handshake as long as the session, or until the next attempt to connect. So the data
// needs a limit.

// MaxIntroduction is the maximum size of a server's capabilities, identity, supported versions and _meta together, in
// bytes. They are decoded into many small values, which take far more memory than their text. Only the frame limit
// bounds the instructions, because they are a single string.
const MaxIntroduction = 64 << 10

// checkIntroduction returns an error if a result of the handshake exceeds MaxIntroduction. It is called before the
// result is decoded.
func checkIntroduction(result []byte) error {
	size := 0
	o := jsonscan.ObjectAt(result, 0)
	for o.Next() {
		switch string(o.Key()) {
		case "capabilities", "serverInfo", "supportedVersions", "_meta":
			size += len(o.Raw())
		}
	}
	if size > MaxIntroduction {
		return &introductionError{size}
	}
	return nil // the decoder reports invalid JSON
}

// introductionError is the error for a server with too large an introduction.
type introductionError struct{ size int }

func (e *introductionError) Error() string {
	return fmt.Sprintf("the server's name, version and capabilities have %d bytes; the limit is %d bytes", e.size,
		MaxIntroduction)
}

// Limits, in bytes, of a server's error that is kept as the reason for a failed connection.
const (
	MaxReason     = 1 << 10
	maxReasonData = 4 << 10
)

// brief returns e, cut to these limits.
func brief(e *mcp.Error) *mcp.Error {
	b := &mcp.Error{Code: e.Code, Message: Excerpt(e.Message, MaxReason)}
	if len(e.Data) <= maxReasonData {
		b.Data = e.Data
	}
	return b
}

// excerpts returns the beginnings of the first few versions, for an error text.
func excerpts(versions []mcp.Version) (some []string) {
	const few = 16
	for _, v := range versions[:min(few, len(versions))] {
		some = append(some, Excerpt(string(v), MaxShown))
	}
	return some
}
