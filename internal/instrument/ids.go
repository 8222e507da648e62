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

// ids are the ids of an operation, and their texts once a signal has asked for them.
type ids struct {
	corr           Corr
	corrText, text string
	peerID         string // the id of a message of the peer, in full, unless hasID
	id             int64
	hasID          bool // id is set
}

// Corr is the correlation id of one logical call. It stays the same over send retries, rounds and re-issues, for which
// [Op.Corr] of the first is given to [Request] of the next. The zero Corr stands for a new one.
type Corr struct{ id [16]byte }

// corrTextLen is the length of an id as text.
const corrTextLen = 2 * len(Corr{}.id)

// String returns the id as 32 hexadecimal digits.
func (c Corr) String() string { return string(c.append(make([]byte, 0, corrTextLen))) }

func (c Corr) append(b []byte) []byte { return hex.AppendEncode(b, c.id[:]) }

// or returns c, or a new id if c is zero. Ids tell calls apart and protect nothing, so they need not be unpredictable.
func (c Corr) or() Corr {
	if c != (Corr{}) {
		return c
	}
	binary.NativeEndian.PutUint64(c.id[:8], rand.Uint64())
	binary.NativeEndian.PutUint64(c.id[8:], rand.Uint64()|1)
	return c
}

// Corr returns the correlation id, for the requests that go on with this call.
func (op *Op) Corr() Corr {
	if op.side == nil {
		return Corr{}
	}
	op.ids.corr = op.ids.corr.or()
	return op.ids.corr
}

// requestID returns the id as text, empty if there is none. An id of the peer is truncated.
func (op *Op) requestID() string {
	op.writeIDs()
	return op.ids.text
}

// corrID returns the correlation id as text. It is empty for messages of the peer, who does not send one, and for those
// that a server sends.
func (op *Op) corrID() string {
	op.writeIDs()
	return op.ids.corrText
}

// writeIDs makes the texts of the ids, once each is known and a signal needs them. The two texts of a request are parts
// of one string.
func (op *Op) writeIDs() {
	switch {
	case op.direction == telemetry.Received:
		switch {
		case op.ids.text != "":
		case op.ids.hasID:
			op.ids.text = strconv.FormatInt(op.ids.id, 10)
		case op.ids.peerID != "":
			op.ids.text = truncate(op.ids.peerID, words.MaxName)
		}
	case op.notification: // has neither
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

// idBlock is the size of a block of texts in bytes, for the ids of about twelve calls. A block lives as long as the
// span or the record that has one of its texts, so it is no larger.
const idBlock = 512

// idBlocks are blocks with room for more texts. A block for each call would be an allocation for each.
var idBlocks = sync.Pool{New: func() any { return new(strings.Builder) }}

// idText returns b as a string, which shares its memory with the texts before it.
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
