package otlp

import (
	"strconv"
	"strings"

	"github.com/mcpotel/mcpotel/internal/instrument/words"
)

// setLimit returns the limit of attribute sets for each instrument. The SDK's own variable sets the limit; otherwise
// the limit is [words.SetLimit], within which all clients and servers together stay (decision 0021).
func setLimit(getenv func(string) string) int {
	n, err := strconv.Atoi(strings.TrimSpace(getenv("OTEL_GO_X_CARDINALITY_LIMIT")))
	if err != nil {
		return words.SetLimit
	}
	return n // zero and less mean no limit
}
