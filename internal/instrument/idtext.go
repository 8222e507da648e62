package instrument

import (
	"strings"
	"sync"
)

// idBlock is the size of what the texts of several ids are made in, in bytes: those of about twelve calls. It lives as
// long as the span or the record that has one of them, so it is no larger.
const idBlock = 512

// idBlocks are blocks with room for more texts. One for each call would be an allocation for each.
var idBlocks = sync.Pool{New: func() any { return new(strings.Builder) }}

// idText returns b as a string, which shares its memory with those before it.
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
