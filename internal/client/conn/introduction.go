package conn

import (
	"fmt"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/mcp"
)

// The data that a client keeps from the handshake last as long as the session, or until the next attempt to
// connect.

// MaxIntroduction bounds the capabilities and identity of a server, in bytes. They are decoded into many small
// values, which take far more memory than the text. The instructions are a single string, and only bounded by the
// frame limit.
const MaxIntroduction = 64 << 10

// checkIntroduction returns an error if a result of the handshake exceeds MaxIntroduction, before it is decoded.
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

// introductionError is the error for a server whose introduction is too large.
type introductionError struct{ size int }

func (e *introductionError) Error() string {
	return fmt.Sprintf("name, version and capabilities of the server have %d bytes, above the limit of %d", e.size,
		MaxIntroduction)
}

// Bounds, in bytes, of a server's error that is kept as the reason for a failed connection.
const (
	MaxReason     = 1 << 10
	maxReasonData = 4 << 10
)

// brief returns e within these bounds.
func brief(e *mcp.Error) *mcp.Error {
	b := &mcp.Error{Code: e.Code, Message: Excerpt(e.Message, MaxReason)}
	if len(e.Data) <= maxReasonData {
		b.Data = e.Data
	}
	return b
}

// excerpts returns the beginnings of the first versions, for the text of an error.
func excerpts(versions []mcp.Version) (some []string) {
	const few = 16
	for _, v := range versions[:min(few, len(versions))] {
		some = append(some, Excerpt(string(v), MaxShown))
	}
	return some
}
