package conn

import (
	"fmt"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/mcp"
)

// What the client keeps of the handshake lasts as long as the session, or until the next attempt to connect.

// MaxIntroduction bounds what a server declares and says of itself, in bytes. It becomes many small values, which take
// far more memory than the text. Its instructions are one string; they are as long as a frame can be.
const MaxIntroduction = 64 << 10

// checkIntroduction says whether there is too much of it in the result of a handshake, before that is decoded.
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
	return nil // what is no JSON, its decoder says
}

// introductionError is the error for a server that has too much to say of itself.
type introductionError struct{ size int }

func (e *introductionError) Error() string {
	return fmt.Sprintf("the server introduces itself with %d bytes, the limit is %d", e.size, MaxIntroduction)
}

// Bounds of an error of the server that is kept as the reason why there is no connection, in bytes.
const (
	MaxReason     = 1 << 10
	maxReasonData = 4 << 10
)

// brief returns e without what is too long to be kept.
func brief(e *mcp.Error) *mcp.Error {
	b := &mcp.Error{Code: e.Code, Message: Excerpt(e.Message, MaxReason)}
	if len(e.Data) <= maxReasonData {
		b.Data = e.Data
	}
	return b
}

// excerpts returns the beginnings of a few versions, for the text of an error.
func excerpts(versions []mcp.Version) (some []string) {
	const few = 16
	for _, v := range versions[:min(few, len(versions))] {
		some = append(some, Excerpt(string(v), MaxShown))
	}
	return some
}
