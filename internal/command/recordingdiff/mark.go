package recordingdiff

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/mcpotel/mcpotel/internal/recording"
)

// numbers gives each text a number.
type numbers map[[sha256.Size]byte]int

func (n numbers) of(text string) int {
	sum := sha256.Sum256([]byte(text))
	if _, known := n[sum]; !known {
		n[sum] = len(n)
	}
	return n[sum]
}

// marks returns what the requests of a session are paired by. Those that are paired with each other share the numbers.
func (c *comparison) marks(s *session, n numbers) []mark {
	marks := make([]mark, len(s.asked))
	for i, x := range s.asked {
		asked, whole := "", fmt.Sprintf("%d %s", x.Bytes, outcome(x.answer))
		if c.content {
			asked, whole = c.text(x.Content), outcome(x.answer)
		}
		switch {
		case x.answer != nil && c.content:
			whole += c.text(x.answer.Content)
		case x.answer != nil:
			whole += fmt.Sprintf(" %d", x.answer.Bytes)
		}
		marks[i].key = n.of(x.key())
		marks[i].asked = n.of(fmt.Sprint(marks[i].key, " ", asked))
		marks[i].whole = n.of(fmt.Sprint(marks[i].asked, " ", whole))
	}
	return marks
}

// text returns the text of a content without what is not compared.
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
		c.drop("", v)
	}
	return recording.Text(v)
}

// drop takes from a value what is ignored.
func (c *comparison) drop(path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, one := range v {
			at := recording.Join(path, "."+name)
			c.drop(at, one)
			if c.ignored(at) {
				delete(v, name)
			}
		}
	case []any:
		for i, one := range v {
			at := recording.Join(path, "["+strconv.Itoa(i)+"]")
			c.drop(at, one)
			if c.ignored(at) {
				v[i] = nil
			}
		}
	}
}
