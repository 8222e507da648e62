package recordingdiff

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/mcpotel/mcpotel/internal/recording"
)

// numbers assigns a number to each distinct text.
type numbers map[[sha256.Size]byte]int

func (n numbers) of(text string) int {
	sum := sha256.Sum256([]byte(text))
	if _, known := n[sum]; !known {
		n[sum] = len(n)
	}
	return n[sum]
}

// marks returns the marks of a session's exchanges. Two sessions that are compared share n.
func (c *comparison) marks(s *session, n numbers) []mark {
	marks := make([]mark, len(s.requests))
	for i, x := range s.requests {
		request, whole := "", fmt.Sprintf("%d %s", x.Bytes, outcome(x.answer))
		if c.content {
			request, whole = c.text(x.Content), outcome(x.answer)
		}
		switch {
		case x.answer != nil && c.content:
			whole += c.text(x.answer.Content)
		case x.answer != nil:
			whole += fmt.Sprintf(" %d", x.answer.Bytes)
		}
		marks[i].key = n.of(x.key())
		marks[i].request = n.of(fmt.Sprint(marks[i].key, " ", request))
		marks[i].whole = n.of(fmt.Sprint(marks[i].request, " ", whole))
	}
	return marks
}

// text returns the canonical text of a content, without the parts that are not compared.
func (c *comparison) text(raw json.RawMessage) string {
	v := stable(raw)
	if o, ok := v.(map[string]any); ok {
		for _, name := range keyed {
			if own, ok := o[name].(map[string]any); ok {
				o[name] = byText(own)
			}
		}
	}
	if len(c.o.Ignore) > 0 {
		c.removeIgnored("", v)
	}
	return recording.Text(v)
}

// removeIgnored removes the members of v that Options.Ignore excludes, and replaces excluded elements by nil.
func (c *comparison) removeIgnored(path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, one := range v {
			at := recording.Join(path, "."+name)
			c.removeIgnored(at, one)
			if c.ignored(at) {
				delete(v, name)
			}
		}
	case []any:
		for i, one := range v {
			at := recording.Join(path, "["+strconv.Itoa(i)+"]")
			c.removeIgnored(at, one)
			if c.ignored(at) {
				v[i] = nil
			}
		}
	}
}
