package instrument

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"

	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// ids holds the ids of an operation, and their texts as soon as a signal has needed them.
type ids struct {
	corr           Corr
	corrText, text string
	peerID         string // complete id of the peer's message, unless hasID
	id             int64
	hasID          bool // id is set
}

// Corr is the correlation id of one logical call. Retries of sending, rounds and re-issued requests share it: callers
// pass [Op.Corr] of the first request to the [Request] that follows. The zero Corr stands for a new id.
type Corr struct{ id [16]byte }

// corrTextLen is the length of a correlation id as text.
const corrTextLen = 2 * len(Corr{}.id)

// String returns the id as 32 hexadecimal digits.
func (c Corr) String() string { return string(c.append(make([]byte, 0, corrTextLen))) }

func (c Corr) append(b []byte) []byte { return hex.AppendEncode(b, c.id[:]) }

// or returns c, or a new id if c is zero. Ids distinguish calls and are not secret, so they may be predictable.
func (c Corr) or() Corr {
	if c != (Corr{}) {
		return c
	}
	binary.NativeEndian.PutUint64(c.id[:8], rand.Uint64())
	binary.NativeEndian.PutUint64(c.id[8:], rand.Uint64()|1)
	return c
}

// Corr returns the correlation id, for the requests that continue this call.
func (op *Op) Corr() Corr {
	if op.side == nil {
		return Corr{}
	}
	op.ids.corr = op.ids.corr.or()
	return op.ids.corr
}

// requestID returns the id as text. It is empty if there is none. An id of the peer is truncated.
func (op *Op) requestID() string {
	op.writeIDs()
	return op.ids.text
}

// corrID returns the correlation id as text. It is empty for received messages, because peers do not send it, and for
// messages that a server sends.
func (op *Op) corrID() string {
	op.writeIDs()
	return op.ids.corrText
}

// writeIDs formats the ids once they are known and a signal needs them. The two texts of a request share one string.
func (op *Op) writeIDs() {
	switch {
	case op.direction == telemetry.DirectionReceived:
		switch {
		case op.ids.text != "":
		case op.ids.hasID:
			op.ids.text = strconv.FormatInt(op.ids.id, 10)
		case op.ids.peerID != "":
			op.ids.text = truncate(op.ids.peerID, words.MaxName)
		}
	case op.notification: // a notification has neither of the two ids
	case op.side.keys.corrID == "":
		if op.ids.text == "" && op.ids.hasID {
			op.ids.text = strconv.FormatInt(op.ids.id, 10)
		}
	case op.ids.corrText == "":
		var buf [corrTextLen + 20]byte
		text := op.Corr().append(buf[:0])
		if op.ids.hasID {
			text = strconv.AppendInt(text, op.ids.id, 10)
		}
		both := idText(text)
		op.ids.corrText, op.ids.text = both[:corrTextLen], both[corrTextLen:]
	case op.ids.text == "" && op.ids.hasID:
		op.ids.text = strconv.FormatInt(op.ids.id, 10)
	}
}

// idBlock is the size of a block of texts in bytes, for the ids of about twelve calls. A span or record that holds one
// text keeps the whole block in memory, so blocks are small.
const idBlock = 512

// idBlocks holds blocks with free space. Without this pool, each call would allocate memory for its ids.
var idBlocks = sync.Pool{New: func() any { return new(strings.Builder) }}

// idText returns b as a string that shares a block with other texts.
func idText(b []byte) string {
	block := idBlocks.Get().(*strings.Builder)
	if block.Cap()-block.Len() < len(b) {
		block.Reset()
		block.Grow(idBlock)
	}
	from := block.Len()
	block.Write(b)
	text := block.String()[from:]
	idBlocks.Put(block)
	return text
}
